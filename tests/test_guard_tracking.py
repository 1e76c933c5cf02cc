"""The asv benchmarks of guards, with the processes replaced by what they would say."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pcbench import guard_sampling, guard_tracking, instruction_counting, sidecar
from pcbench.analysis.context import read_sidecar
from pcbench.asking import Setting
from pcbench.errors import PcbenchError, UnavailableError
from pcbench.guard_samples import Census, Cost, Place, Sweep

HEAD = {"commit": "c" * 40, "environment": "shared-py3.11"}
BENCHMARK = "bench_guards.Census.track_count"
PLACES = {"L['x']": Place(("TENSOR_MATCH",))}


@dataclass
class Processes:
    """What the processes say, and what each was started for: target, kind and hash seed."""

    census: Census = field(default_factory=lambda: Census({"guards": 46, "depth": 7}, PLACES, {"metrics: x": "no"}))
    differing: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    cost: Callable[[int], Cost] = lambda seed: Cost({"check": (float(seed),)})
    sweep: Callable[[int], Sweep] = lambda seed: Sweep("tensors", {1: 9, 8: 16}, {1: (2.0,), 8: (9.0,)})
    started: list[tuple[str, ...]] = field(default_factory=list)

    def take_census(self, setting: Setting) -> guard_sampling.Counted:
        self.started.append((setting.target, "census"))
        return guard_sampling.Counted(self.census, "2.15.0", "git", self.differing)

    def take_cost(self, setting: Setting) -> Cost:
        seed = setting.env["PYTHONHASHSEED"] or ""
        self.started.append((setting.target, "cost", seed))
        return self.cost(int(seed))

    def take_sweep(self, setting: Setting, sizes: Sequence[int]) -> Sweep:
        seed = setting.env["PYTHONHASHSEED"] or ""
        self.started.append((setting.target, f"sweep over {tuple(sizes)}", seed))
        return self.sweep(int(seed))


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Processes:
    made = Processes()
    monkeypatch.setattr(guard_sampling, "census", made.take_census)
    monkeypatch.setattr(guard_sampling, "cost", made.take_cost)
    monkeypatch.setattr(guard_sampling, "sweep", made.take_sweep)
    monkeypatch.setenv("PCBENCH_STORE", str(tmp_path / "store"))
    return made


@pytest.fixture
def context(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    path = tmp_path / "cccccccc-shared-py3.11.context"
    sidecar.begin(path, HEAD)
    monkeypatch.setenv("PCBENCH_CONTEXT", str(path))
    monkeypatch.setenv("PCBENCH_BENCHMARK", BENCHMARK)
    return path


def test_a_census_is_taken_once_for_all_its_entries_and_kept_whole_beside_the_result(
    said: Processes, context: Path
) -> None:
    entries = ("guards", "depth", "relational guards")

    assert [guard_tracking.guard_count("mlp", entry) for entry in entries] == [46.0, 7.0, 0.0]
    assert said.started == [("mlp", "census")]
    assert read_sidecar(context).censuses == {"mlp": said.census}
    (line,) = context.read_text().splitlines()[1:]
    assert json.loads(line)["case"] == f"{BENCHMARK}(mlp, guards)"


def test_a_second_round_takes_a_census_of_its_own(said: Processes) -> None:
    for _ in range(2):
        guard_tracking.guard_count("mlp", "guards")
        guard_tracking.guard_count("mlp", "depth")

    assert said.started == [("mlp", "census")] * 2


def test_an_entry_in_which_two_processes_differ_fails_alone_and_is_unknown_in_what_is_kept(
    said: Processes, context: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said.differing = {"guards": ("46", "47"), "L['x']": ("TENSOR_MATCH", "nothing")}

    with pytest.raises(SystemExit):
        guard_tracking.guard_count("mlp", "guards")
    words = "two processes with different hash seeds do not agree on 'guards': 46 and 47"
    assert words in capsys.readouterr().err
    assert guard_tracking.guard_count("mlp", "depth") == 7.0
    kept = read_sidecar(context)
    assert dict(kept.censuses["mlp"].counts) == {"depth": 7}
    assert kept.censuses["mlp"].unknown == {"metrics: x": "no", "guards": words}
    assert kept.absences[f"{BENCHMARK}(mlp, guards)"].status == "FAILED"


def test_what_this_torch_or_commit_has_not_is_na_with_its_reason(said: Processes, context: Path) -> None:
    assert math.isnan(guard_tracking.guard_count("mlp", "metrics: x"))
    assert math.isnan(guard_tracking.guard_count("no_model", "guards"))
    assert math.isnan(_value(guard_tracking.guard_seconds("mlp", "no measure")))
    assert math.isnan(_value(guard_tracking.guard_slope_seconds("no_family", "intercept", (1, 8))))
    reasons = {absence.reason for absence in read_sidecar(context).absences.values()}
    assert reasons == {
        "no",
        "this commit has neither a model nor a guard family no_model",
        "this commit has no measure of guards 'no measure'",
        "this commit has no guard family 'no_family'",
    }
    assert said.started == [("mlp", "census")]


def _value(tracked: object) -> float:
    assert isinstance(tracked, float)
    return tracked


def test_a_process_gives_the_least_of_its_blocks_or_the_middle_of_its_pairs_differences(said: Processes) -> None:
    hits, direct = (9.0, 5.0, 7.0), (1.0, 4.0, 2.0)
    said.cost = lambda seed: Cost({"hit": tuple(seed * value for value in hits), "direct": direct})

    assert guard_tracking.guard_seconds("mlp", "hit", 3) == {"samples": [5.0, 10.0, 15.0], "number": 1}
    assert guard_tracking.guard_seconds("mlp", "hit - direct", 3) == {"samples": [5.0, 12.0, 19.0], "number": 1}
    assert said.started == [("mlp", "cost", seed) for seed in "123"]


def test_in_a_pair_a_process_has_the_pair_s_hash_seed_and_each_pair_takes_one_of_its_own(
    said: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds: list[bool] = []
    monkeypatch.setattr(
        guard_sampling, "cost", lambda setting: seeds.append("PYTHONHASHSEED" in setting.env) or said.cost(len(seeds))
    )
    monkeypatch.setenv("PCBENCH_ONE_SAMPLE", "1")

    found = [guard_tracking.guard_seconds("mlp", "check", 1) for _ in range(2)]

    assert seeds == [False, False]
    assert [each["samples"] for each in found if isinstance(each, dict)] == [[1.0], [2.0]]


def test_a_measure_or_a_part_of_a_difference_that_cannot_be_had_is_na_and_others_are_measured(
    said: Processes, context: Path
) -> None:
    said.cost = lambda seed: Cost({"check": (1.0,), "hit": (2.0,)}, {"direct": "it builds graphs anew"})

    assert math.isnan(_value(guard_tracking.guard_seconds("mlp", "hit - direct", 2)))
    assert guard_tracking.guard_seconds("mlp", "check", 2) == {"samples": [1.0, 1.0], "number": 1}
    assert [a.reason for a in read_sidecar(context).absences.values()] == ["it builds graphs anew"]


@pytest.mark.parametrize(
    ("error", "status"), [(UnavailableError("no hook"), "UNAVAILABLE"), (PcbenchError("it hung"), "FAILED")]
)
def test_a_process_that_fails_is_started_once_for_all_that_it_would_have_told(
    said: Processes, context: Path, error: PcbenchError, status: str
) -> None:
    def fail(_: int) -> Cost:
        raise error

    said.cost = fail
    for measure in ("check", "hit"):
        try:
            assert math.isnan(_value(guard_tracking.guard_seconds("mlp", measure)))
        except SystemExit:
            assert status == "FAILED"

    assert len(said.started) == 1
    absences = read_sidecar(context).absences.values()
    assert [(absence.status, absence.reason) for absence in absences] == [(status, error.problem)] * 2


def test_a_slope_is_told_by_guard_by_item_and_at_size_0_by_the_same_processes(said: Processes) -> None:
    said.sweep = lambda seed: Sweep("tensors", {1: 10, 8: 24}, {1: (1.0 + seed,), 8: (1.0 + 8 * seed,)})
    sizes = (1, 8)
    found = {part: guard_tracking.guard_slope_seconds("tensors", part, sizes, 2) for part in guard_tracking.SLOPES}

    samples = {part: tracked["samples"] for part, tracked in found.items() if isinstance(tracked, dict)}
    assert samples["per item"] == pytest.approx([1.0, 2.0])
    assert samples["per guard"] == pytest.approx([0.5, 1.0])
    assert samples["intercept"] == pytest.approx([1.0, 1.0])
    assert said.started == [("tensors", "sweep over (1, 8)", seed) for seed in "12"]


@pytest.mark.usefixtures("said")
def test_one_process_counts_the_instructions_of_all_targets_that_the_commit_has(
    monkeypatch: pytest.MonkeyPatch, context: Path
) -> None:
    asked: list[tuple[tuple[str, int], ...]] = []

    def counted(targets: Sequence[tuple[str, int]], setting: Setting) -> instruction_counting.Counted:
        asked.append(tuple(targets))
        assert setting.timeout_s == instruction_counting.limit_s(4)
        values = {("mlp", 1): (23_220.0, 23_224.0), ("tensors", 8): (9_000.0,)}
        unavailable, failed = {("tensors", 64): "it has no flag"}, {("bert", 1): "killed by SIGSEGV"}
        return instruction_counting.Counted("callgrind", values, unavailable=unavailable, failed=failed)

    monkeypatch.setattr(instruction_counting, "counted", counted)
    targets = ("mlp", "tensors at 8", "tensors at 64", "no_model", "bert")
    mlp, small, large, none = (guard_tracking.guard_instructions(target, targets) for target in targets[:4])
    with pytest.raises(SystemExit):
        guard_tracking.guard_instructions("bert", targets)

    assert asked == [(("mlp", 1), ("tensors", 8), ("tensors", 64), ("bert", 1))]
    assert mlp == 23_220.0
    assert small == 9_000.0
    assert math.isnan(_value(large))
    assert math.isnan(_value(none))
    assert [(absence.status, absence.reason) for absence in read_sidecar(context).absences.values()] == [
        ("UNAVAILABLE", "it has no flag"),
        ("UNAVAILABLE", "this commit has neither a model nor a guard family no_model"),
        ("FAILED", "killed by SIGSEGV"),
    ]


@pytest.mark.slow
def test_the_processes_give_a_model_s_census_and_a_family_s_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, context: Path
) -> None:
    monkeypatch.setenv("PCBENCH_STORE", str(tmp_path / "store"))
    guards = guard_tracking.guard_count("mlp", "guards")
    line = {part: guard_tracking.guard_slope_seconds("tensors", part, (1, 64), 1) for part in guard_tracking.SLOPES}
    check = guard_tracking.guard_seconds("mlp", "check", 1)

    assert guards == read_sidecar(context).censuses["mlp"].counts["guards"] > 0
    assert isinstance(check, dict)
    assert min(check["samples"]) > 0
    assert all(isinstance(part, dict) and part["samples"][0] > 0 for part in line.values())
