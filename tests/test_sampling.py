"""What a sample says of models and processes that misbehave."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pcbench import sampling
from pcbench.errors import UsageError
from pcbench.samples import EAGER
from pcbench.sampling import Setting
from pcbench.status import Status

pytestmark = pytest.mark.slow

HEAD = """
import os, signal, time
import torch
from torch import nn
from pcbench.models import Model

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
    def forward(self, x):
        return self.linear(x)

def inputs():
    return (torch.ones(2, 4),), {}
"""
TAIL = "\nMODEL = Model(build=Net, inputs=inputs)\n"


@pytest.fixture
def write(tmp_path: Path):
    def written(body: str = "", tail: str = TAIL) -> Setting:
        path = tmp_path / "mine.py"
        path.write_text(HEAD + body + tail)
        return Setting(str(path), threads=1, timeout_s=60)

    return written


def test_eager_has_the_phases_of_a_fresh_process(write) -> None:
    outcome = sampling.load(write(), EAGER, None, "cold", hot=True)

    first, hot = outcome.samples
    assert outcome.status is Status.OK
    assert min(first.phases.interpreter_s, first.phases.import_torch_s, first.phases.model_s) > 0
    assert first.phases.total_s == pytest.approx(sum(vars(first.phases).values()))
    assert hot.phases.import_torch_s == hot.phases.interpreter_s == 0
    assert first.cpu_s > hot.cpu_s
    assert first.peak_rss_bytes > 100_000_000
    assert first.compiler_processes == 0


def test_an_unseeded_model_is_seeded_so_that_each_process_builds_the_same(write, tmp_path: Path) -> None:
    setting = write()
    assert sampling.capture(setting, "export", tmp_path / "c").status is Status.OK
    assert sampling.load(setting, "export", tmp_path / "c", "warm").status is Status.OK


def test_a_model_that_differs_from_process_to_process_is_said_to(write, tmp_path: Path) -> None:
    setting = write(
        "class Other(Net):\n    def __init__(self):\n        super().__init__()\n"
        "        nn.init.constant_(self.linear.bias, os.getpid())\n",
        "\nMODEL = Model(build=Other, inputs=inputs)\n",
    )
    assert sampling.capture(setting, "export", tmp_path / "c").status is Status.OK

    with pytest.raises(UsageError, match="builds other weights or inputs in each process"):
        sampling.load(setting, "export", tmp_path / "c", "warm")


def test_an_artifact_whose_answer_is_not_eagers_is_a_wrong_result(write, tmp_path: Path) -> None:
    body = (
        "class Wrong(Net):\n    def forward(self, x):\n"
        "        return self.linear(x) + (1.0 if torch.compiler.is_compiling() else 0.0)\n"
    )
    setting = write(body, "\nMODEL = Model(build=Wrong, inputs=inputs)\n")
    assert sampling.capture(setting, "export", tmp_path / "c").status is Status.OK

    outcome = sampling.load(setting, "export", tmp_path / "c", "warm")
    assert (outcome.status, outcome.samples) == (Status.WRONG_RESULT, ())
    assert "differs from eager's by up to 1" in str(outcome.reason)


def test_a_capture_that_raises_says_what_and_is_not_called_unavailable(write, tmp_path: Path) -> None:
    body = "class Data(Net):\n    def forward(self, x):\n        return self.linear(x) if x.sum() > 0 else x\n"
    capture = sampling.capture(write(body, "\nMODEL = Model(build=Data, inputs=inputs)\n"), "export", tmp_path / "c")

    assert capture.status is Status.CAPTURE_FAILED
    assert str(capture.reason).startswith("capture: ")
    assert not (tmp_path / "c" / "artifact").exists()


@pytest.mark.parametrize(
    ("line", "status", "words"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", Status.CRASHED, "killed by SIGSEGV"),
        ("os._exit(0)", Status.CRASHED, "exited with 0"),
        ("time.sleep(600)", Status.TIMED_OUT, "after 6 s"),
    ],
)
def test_a_process_that_dies_or_hangs_costs_its_own_sample_only(line: str, status: Status, words: str, write) -> None:
    body = f"class Bad(Net):\n    def forward(self, x):\n        {line}\n"
    setting = write(body, "\nMODEL = Model(build=Bad, inputs=inputs)\n")
    outcome = sampling.load(Setting(setting.target, threads=1, timeout_s=6), EAGER, None, "cold")

    assert outcome.status is status
    assert words in str(outcome.reason)


@pytest.mark.parametrize(
    ("tail", "words"),
    [
        ("", r"MODEL is missing .*MODEL = Model"),
        ("\nraise OSError('no licence file')\n", "OSError: no licence file"),
        ("\nMODEL = Model(build=lambda: None, inputs=inputs)\n", "gave a NoneType, not a torch.nn.Module"),
        ("\nMODEL = Model(build=Net, inputs=lambda: torch.ones(2))\n", r"return \(args, kwargs\)"),
        ("\nMODEL = Model(build=lambda: 1 / 0, inputs=inputs)\n", r"build\(\) raised ZeroDivisionError"),
        (
            "\nclass No(Net):\n    def forward(self, x):\n        return {'loss': 3.0}\n"
            "MODEL = Model(build=No, inputs=inputs)\n",
            "a dict, holds no tensor",
        ),
    ],
)
def test_a_model_at_fault_is_the_users_error_in_its_own_words(tail: str, words: str, write) -> None:
    with pytest.raises(UsageError, match=words):
        sampling.load(write("", tail), EAGER, None, "cold")


def test_a_load_with_another_thread_count_is_refused_in_words(write, tmp_path: Path) -> None:
    setting = write()
    sampling.capture(setting, "export", tmp_path / "c")
    outcome = sampling.load(Setting(setting.target, threads=2), "export", tmp_path / "c", "warm")

    assert outcome.status is Status.LOAD_FAILED
    assert "saved with 1 CPU threads, this process has 2" in str(outcome.reason)


def test_a_load_that_compiles_although_it_has_the_captures_caches_is_degraded(tmp_path: Path) -> None:
    setting = Setting("mlp", threads=1)
    assert sampling.capture(setting, "precompile_inductor", tmp_path / "c").status is Status.OK
    assert sampling.load(setting, "precompile_inductor", tmp_path / "c", "warm").status is Status.OK
    for library in (tmp_path / "c" / "caches" / "inductor").rglob("*.so"):
        library.unlink()

    outcome = sampling.load(setting, "precompile_inductor", tmp_path / "c", "warm")
    assert outcome.status is Status.DEGRADED_TO_JIT
    assert "compilers although it had the capture's caches" in str(outcome.reason)


def test_a_guard_that_fails_is_told_from_a_load_that_fails(write) -> None:
    body = (
        "class Guarded(Net):\n    def forward(self, x):\n        raise RuntimeError('GuardManager check failed: x')\n"
    )
    setting = write(body, "\nMODEL = Model(build=Guarded, inputs=inputs)\n")

    assert sampling.load(setting, EAGER, None, "cold").status is Status.GUARD_FAILED


def test_a_function_gives_model_args_and_kwargs(tmp_path: Path) -> None:
    (tmp_path / "pcbench_test_zoo.py").write_text(
        "import torch\ndef tiny():\n    return torch.nn.Linear(2, 2), (torch.ones(1, 2),), {}\n"
    )
    setting = Setting("pcbench_test_zoo:tiny", threads=1, cwd=tmp_path)

    assert sampling.load(setting, EAGER, None, "cold").status is Status.OK


def test_caches_are_private_to_a_sample(write) -> None:
    setting = write("print(os.environ['TORCHINDUCTOR_CACHE_DIR'], os.environ['TMPDIR'])\n")
    before = set(Path(os.environ["TORCHINDUCTOR_CACHE_DIR"]).iterdir())
    sampling.load(setting, EAGER, None, "cold")

    assert set(Path(os.environ["TORCHINDUCTOR_CACHE_DIR"]).iterdir()) == before


def test_no_kernels_package_of_ours_is_importable_in_a_measured_process(tmp_path: Path) -> None:
    found = tmp_path / "found.json"
    (tmp_path / "looking.py").write_text(
        "import importlib.util, json\n"
        f"json.dump([importlib.util.find_spec(n) is not None for n in ('kernels', 'pcbench_kernels')],"
        f" open({str(found)!r}, 'w'))\n" + HEAD + TAIL
    )
    repository = Path(__file__).parent.parent
    sampling.load(Setting(str(tmp_path / "looking.py"), threads=1, cwd=repository), EAGER, None, "cold")

    assert json.loads(found.read_text()) == [False, True]
