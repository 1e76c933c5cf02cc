"""Models as users give them: files, functions, and what is at fault in them."""

from __future__ import annotations

from pathlib import Path

import pytest
from users_model import Write

from pcbench import sampling
from pcbench.asking import Setting
from pcbench.errors import UsageError
from pcbench.samples import EAGER
from pcbench.status import Status

pytestmark = pytest.mark.slow


def test_an_unseeded_model_is_seeded_so_that_each_process_builds_the_same(write: Write, tmp_path: Path) -> None:
    setting = write()
    assert sampling.capture(setting, "export", tmp_path / "c").status is Status.OK
    assert sampling.load(setting, "export", tmp_path / "c", "warm").status is Status.OK


def test_a_model_that_differs_from_process_to_process_is_said_to(write: Write, tmp_path: Path) -> None:
    setting = write(
        "class Other(Net):\n    def __init__(self):\n        super().__init__()\n"
        "        nn.init.constant_(self.linear.bias, os.getpid())\n",
        "\nMODEL = Model(build=Other, inputs=inputs)\n",
    )
    assert sampling.capture(setting, "export", tmp_path / "c").status is Status.OK

    with pytest.raises(UsageError, match="has other weights or inputs than the artifact"):
        sampling.load(setting, "export", tmp_path / "c", "warm")


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
def test_a_model_at_fault_is_the_users_error_in_its_own_words(tail: str, words: str, write: Write) -> None:
    with pytest.raises(UsageError, match=words):
        sampling.load(write("", tail), EAGER, None, "cold")


def test_a_function_gives_model_args_and_kwargs(tmp_path: Path) -> None:
    (tmp_path / "pcbench_test_zoo.py").write_text(
        "import torch\ndef tiny():\n    return torch.nn.Linear(2, 2), (torch.ones(1, 2),), {}\n"
    )
    setting = Setting("pcbench_test_zoo:tiny", threads=1, cwd=tmp_path)

    assert sampling.load(setting, EAGER, None, "cold").status is Status.OK


def test_a_model_that_is_random_or_counts_calls_is_the_users_error(write: Write) -> None:
    body = "class Odd(Net):\n    def forward(self, x):\n        return torch.dropout(self.linear(x), 0.5, True)\n"
    setting = write(body, "\nMODEL = Model(build=Odd, inputs=inputs)\n")

    with pytest.raises(UsageError, match=r"does not agree with itself .*\.eval\(\)"):
        sampling.load(setting, EAGER, None, "cold")


def test_a_model_that_sets_its_own_threads_is_named(write: Write) -> None:
    body = "def build():\n    torch.set_num_threads(3)\n    return Net()\n"
    with pytest.raises(UsageError, match="sets torch's threads to 3, 1 were asked for"):
        sampling.load(write(body, "\nMODEL = Model(build=build, inputs=inputs)\n"), EAGER, None, "cold")


def test_a_model_in_training_mode_is_measured_though_it_counts_its_batches(write: Write, tmp_path: Path) -> None:
    body = "class Norm(Net):\n    def __init__(self):\n        super().__init__()\n"
    body += "        self.norm = nn.BatchNorm1d(4)\n"
    body += "    def forward(self, x):\n        return self.norm(self.linear(x))\n"
    setting = write(body, "\nMODEL = Model(build=Norm, inputs=inputs)\n")
    assert sampling.capture(setting, "precompile_eager", tmp_path / "c").status is Status.OK
    outcome = sampling.load(setting, "precompile_eager", tmp_path / "c", "warm", hot=True, calls=True)

    assert (outcome.status, outcome.reason) == (Status.OK, None)


def test_a_model_that_writes_its_input_is_measured(write: Write, tmp_path: Path) -> None:
    body = "class Writes(Net):\n    def forward(self, x):\n        return self.linear(x.add_(1))\n"
    setting = write(body, "\nMODEL = Model(build=Writes, inputs=inputs)\n")
    assert sampling.capture(setting, "export", tmp_path / "c").status is Status.OK

    assert sampling.load(setting, "export", tmp_path / "c", "warm", calls=True).status is Status.OK


def test_the_first_build_of_a_functions_model_is_on_the_clock(tmp_path: Path) -> None:
    (tmp_path / "pcbench_test_slow.py").write_text(
        "import time, torch\nmade = []\ndef tiny():\n    time.sleep(0 if made else 1.5)\n    made.append(1)\n"
        "    return torch.nn.Linear(2, 2), (torch.ones(1, 2),), {}\n"
    )
    setting = Setting("pcbench_test_slow:tiny", threads=1, cwd=tmp_path)
    (sample,) = sampling.load(setting, EAGER, None, "cold").samples

    assert sample.phases.model_s >= 1.5
