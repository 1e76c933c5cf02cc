"""Instructions per guard check: what is counted, by which way, and what is said where they are not."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from pcbench import callgrind, hardware_counter, instruction_counting, timing, torch_api
from pcbench.asking import Setting
from pcbench.errors import PcbenchError, UnavailableError
from pcbench.guards import census, instructions, subjects
from pcbench.guards.guarded import Guarded, guarded
from pcbench.guards.request import Request
from pcbench.instruction_counting import counted

FILE = """
import torch
from torch import nn
from pcbench.models import Model

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale, self.more = 2.5, 3.5
    def forward(self, x, y):
        return (x + y) * self.scale{more}

def inputs():
    return (torch.ones({shape}), torch.ones({shape})), {{}}

MODEL = Model(build=Net, inputs=inputs, grad={grad})
"""

Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(name: str, more: str = "", shape: str = "2, 2", grad: bool = False) -> str:
        (tmp_path / name).write_text(FILE.format(more=more, shape=shape, grad=grad))
        return name

    return written


def fake(per_call: float = 100, grows: float = 0) -> Any:
    """A way of counting that makes each call cost so much, and more where there are more of them."""

    def count(call: Any) -> int:
        call()
        times = call.args[-1]
        return int(1_000 + per_call * times + grows * times**2)

    return partial(nullcontext, count)


def here(work: Callable[[], float]) -> float:
    torch._dynamo.reset()
    return work()


def answered(targets: Sequence[tuple[str, int]], cwd: Path) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    request = Request("", 1, str(cwd), targets=tuple(targets))
    instructions.guard_instructions(request, timing.PhaseClock(), messages.append)
    return [message for message in messages if "stage" not in message]


def test_the_way_to_the_calls_is_not_counted_and_they_are_warm_before() -> None:
    runs: list[int] = []

    assert instructions.per_call(runs.append, fake(per_call=70)) == 70
    assert runs[0] > 4_095


@pytest.mark.parametrize("way", [{"grows": 1}, {"per_call": 0}])
def test_instructions_that_do_not_grow_in_step_with_the_calls_are_no_count(way: dict[str, float]) -> None:
    with pytest.raises(PcbenchError, match="do not grow in step with its calls"):
        instructions.per_call(lambda times: None, fake(**way))


def test_what_is_uneven_over_few_calls_is_counted_over_more() -> None:
    def disturbed(call: Any) -> int:
        times: int = call.args[-1]
        return 100 * times + 300 * (times == 50)

    assert instructions.per_call(lambda times: None, partial(nullcontext, disturbed)) == 100


def test_each_target_is_told_and_one_that_is_not_counted_does_not_end_the_others(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(instructions, "_counting", fake)
    monkeypatch.setattr(instructions, "apart", here)
    monkeypatch.setattr(instructions, "_FILLERS", (1, 2))
    monkeypatch.setattr(instructions, "_WARM", 1)

    def lacking(target: str, size: int, cwd: Path) -> Guarded:
        if target == "lacking":
            raise UnavailableError("it lacks")
        return guarded(target, size, cwd)

    monkeypatch.setattr(instructions, "guarded", lacking)

    found = answered([("tensors", 2), ("lacking", 8), ("there.py", 8), (write("grad.py", grad=True), 8)], tmp_path)

    assert found[0] == {"instructions": {"target": "tensors", "size": 2, "per_check": [100.0] * 2}}
    assert found[1] == {"uncounted": {"target": "lacking", "size": 8, "unavailable": True, "reason": "it lacks"}}
    assert not found[2]["uncounted"]["unavailable"]
    assert "there.py" in found[2]["uncounted"]["reason"]
    assert found[3] == {"instructions": {"target": "grad.py", "size": 8, "per_check": [100.0] * 2}}


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_work_apart_leaves_nothing_behind_and_its_end_is_told() -> None:
    left: list[int] = []

    def work() -> float:
        left.append(1)
        return len(left)

    def lacking() -> float:
        raise UnavailableError("it lacks")

    assert [instructions.apart(work) for _ in range(2)] == [1, 1]
    assert left == []
    with pytest.raises(UnavailableError, match=r"^it lacks$"):
        instructions.apart(lacking)
    with pytest.raises(PcbenchError, match="was killed by signal 9"):
        instructions.apart(lambda: os.kill(os.getpid(), signal.SIGKILL) or 0)
    with pytest.raises(PcbenchError, match="raised"):
        instructions.apart(lambda: 1 / len(left))


class Counter:
    """torch's counter, as it opens and ends."""

    def __init__(self, opened: int, counts: Sequence[int]) -> None:
        self.opened, self.counts = opened, iter(counts)

    def start(self) -> int:
        return self.opened

    def end(self, opened: int) -> int:
        assert opened == self.opened
        return next(self.counts)


@pytest.mark.parametrize(
    ("counter", "reason"),
    [
        (Counter(-1, []), "opens no hardware instruction counter"),
        (Counter(3, [2**64 - 1]), "opens but cannot be read"),
        (Counter(3, [0, 0]), r"does not count \(two loops gave 0 and 0\)"),
        (Counter(3, [500, 510]), r"does not count \(two loops gave 500 and 510\)"),
    ],
)
def test_a_hardware_counter_that_does_not_count_is_refused(
    counter: Counter, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch_api, "get", {"instruction_counter": counter}.__getitem__)
    monkeypatch.delenv(callgrind.FOLDER, raising=False)

    with pytest.raises(UnavailableError, match=reason):
        answered([("tensors", 2)], Path())


def test_a_hardware_counter_that_counts_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_api, "get", {"instruction_counter": Counter(3, [7_000, 700_000, 42])}.__getitem__)

    hardware_counter.require()

    assert hardware_counter.count(lambda: None) == 42


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="there is no valgrind here")
def test_two_processes_agree_and_one_more_attribute_or_more_work_in_as_many_guards_is_found(
    write: Write, tmp_path: Path
) -> None:
    plain, attribute = write("plain.py"), write("attribute.py", more=" + self.more")
    dims = write("dims.py", shape="2, " + "1, " * 20 + "2")
    censuses = []
    for name in (plain, dims):
        with subjects.compiled(guarded(name, 8, tmp_path)) as subject:
            censuses.append({k: n for k, n in census.census(subject).counts.items() if k != "code bytes"})
    assert censuses[0] == censuses[1]

    setting = Setting("", cwd=tmp_path, timeout_s=instruction_counting.limit_s(3))
    targets = [(name, 8) for name in (plain, attribute, dims)]
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: counted(targets, setting), range(2))

    assert (first.failed, first.unavailable) == ({}, {})
    least = [{target: min(values) for target, values in found.values.items()} for found in (first, second)]
    assert least[0] == pytest.approx(least[1], rel=0.0005)
    for each in targets[1:]:
        assert least[0][each] > 1.002 * least[0][targets[0]]  # an attribute of an unchanged dict takes some 30
