"""What a sample says of models and processes that misbehave."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from users_model import HEAD, TAIL, Write
from warm import Warm

from pcbench import sampling
from pcbench.asking import Setting
from pcbench.samples import EAGER
from pcbench.status import Status

pytestmark = pytest.mark.slow


def test_eager_has_the_phases_of_a_fresh_process(write: Write) -> None:
    outcome = sampling.load(write(), EAGER, None, "cold", hot=True)

    first, hot = outcome.samples
    assert outcome.status is Status.OK
    assert min(first.phases.interpreter_s, first.phases.import_torch_s, first.phases.model_s) > 0
    assert first.phases.total_s == pytest.approx(sum(vars(first.phases).values()))
    assert hot.phases.import_torch_s == hot.phases.interpreter_s == 0
    assert first.cpu_s > hot.cpu_s
    assert first.peak_rss_bytes > 100_000_000
    assert first.compiler_processes == 0


def test_an_artifact_whose_answer_is_not_eagers_is_a_wrong_result(write: Write, tmp_path: Path) -> None:
    body = (
        "class Wrong(Net):\n    def forward(self, x):\n"
        "        return self.linear(x) + (1.0 if torch.compiler.is_compiling() else 0.0)\n"
    )
    setting = write(body, "\nMODEL = Model(build=Wrong, inputs=inputs)\n")
    assert sampling.capture(setting, "export", tmp_path / "c").status is Status.OK

    outcome = sampling.load(setting, "export", tmp_path / "c", "warm")
    assert (outcome.status, outcome.samples) == (Status.WRONG_RESULT, ())
    assert "differs from eager's by up to 1" in str(outcome.reason)


def test_a_capture_that_raises_says_what_and_is_not_called_unavailable(write: Write, tmp_path: Path) -> None:
    body = "class Data(Net):\n    def forward(self, x):\n        return self.linear(x) if x.sum() > 0 else x\n"
    capture = sampling.capture(write(body, "\nMODEL = Model(build=Data, inputs=inputs)\n"), "export", tmp_path / "c")

    assert capture.status is Status.CAPTURE_FAILED
    assert str(capture.reason).startswith("capture: ")
    assert not (tmp_path / "c" / "artifact").exists()


@pytest.mark.parametrize(
    ("line", "status", "words", "limit_s"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", Status.CRASHED, "at first call: killed by SIGSEGV", 120),
        ("os.kill(os.getpid(), 40)", Status.CRASHED, "killed by signal 40", 120),
        ("os._exit(0)", Status.CRASHED, "exited with 0", 120),
        ("time.sleep(600)", Status.TIMED_OUT, "still at first call after 15 s", 15),
    ],
)
def test_a_process_that_dies_or_hangs_costs_its_own_sample_only(
    line: str, status: Status, words: str, limit_s: float, write: Write
) -> None:
    body = f"class Bad(Net):\n    def forward(self, x):\n        {line}\n"
    setting = write(body, "\nMODEL = Model(build=Bad, inputs=inputs)\n")
    outcome = sampling.load(Setting(setting.target, threads=1, timeout_s=limit_s), EAGER, None, "cold")

    assert outcome.status is status
    assert words in str(outcome.reason)


def test_a_load_with_another_thread_count_is_refused_in_words(write: Write, tmp_path: Path) -> None:
    setting = write()
    sampling.capture(setting, "export", tmp_path / "c")
    outcome = sampling.load(Setting(setting.target, threads=2), "export", tmp_path / "c", "warm")

    assert outcome.status is Status.LOAD_FAILED
    assert "saved with 1 CPU threads, this process has 2" in str(outcome.reason)


def test_a_load_that_compiles_although_it_has_the_captures_caches_is_degraded(
    warm_caches: Warm, tmp_path: Path
) -> None:
    setting, warm = Setting("mlp", threads=1), warm_caches("precompile_inductor")
    assert sampling.capture(setting, "precompile_inductor", tmp_path / "c", warm_from=warm).status is Status.OK
    before = cached(tmp_path / "c")
    assert sampling.load(setting, "precompile_inductor", tmp_path / "c", "warm").status is Status.OK
    assert cached(tmp_path / "c") == before
    for library in (tmp_path / "c" / "caches" / "inductor").rglob("*.so"):
        library.unlink()

    outcome = sampling.load(setting, "precompile_inductor", tmp_path / "c", "warm")
    assert outcome.status is Status.DEGRADED_TO_JIT
    assert "although it had the capture's caches" in str(outcome.reason)


def cached(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in (folder / "caches").rglob("*")}


def test_a_guard_that_fails_is_told_from_a_load_that_fails(write: Write) -> None:
    body = (
        "class Guarded(Net):\n    def forward(self, x):\n        raise RuntimeError('GuardManager check failed: x')\n"
    )
    setting = write(body, "\nMODEL = Model(build=Guarded, inputs=inputs)\n")

    assert sampling.load(setting, EAGER, None, "cold").status is Status.GUARD_FAILED


def test_a_hot_load_that_fails_leaves_the_warm_sample(write: Write) -> None:
    body = "class Second(Net):\n    made = 0\n    def __init__(self):\n        super().__init__()\n"
    body += "        Second.made += 1\n        self.late = Second.made > 1\n"
    body += "    def forward(self, x):\n        if self.late:\n            os._exit(3)\n        return self.linear(x)\n"
    setting = write(body, "\nMODEL = Model(build=Second, inputs=inputs)\n")
    outcome = sampling.load(setting, EAGER, None, "warm", hot=True)

    assert outcome.status is Status.CRASHED
    assert [sample.temperature for sample in outcome.samples] == ["warm"]


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
