"""Pairs until the rule has settled each case, with the processes replaced by what they would say."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pcbench.analysis.asv_suite import Benchmark
from pcbench.analysis.paired_verdicts import judge_paired
from pcbench.analysis.policy import Policy
from pcbench.analysis.records import Case, Verdict
from pcbench.commands import _pairing
from pcbench.commands._pair_cases import chosen
from pcbench.commands._pair_processes import Answers, Listed, Told
from pcbench.commands._pairing import Progress, measure, neither_has
from pcbench.errors import UsageError
from pcbench.paired import Paired, Side
from pcbench.sides import Ready, Suite

POLICY = Policy(pairs=8, slow_pairs=4)


def side(name: str) -> Ready:
    return Ready(Side(name, name * 40), "python", Path(name), Suite(Path("benchmarks")), {})


def listed(name: str, unit: str = "seconds", param: str = "") -> Listed:
    case = Case(name, (("model", param),) if param else ())
    return Listed(case, Benchmark("1", unit, ("model",) if param else (), "up"), 0 if param else None, 60.0)


@dataclass
class Processes:
    """What processes say: ``value`` by case, side and how many pairs of the case were begun, and what was asked."""

    value: Callable[[str, str, int], Told | float]
    asked: list[tuple[str, int, tuple[str, ...]]] = field(default_factory=list)
    control: Callable[[str], float] = lambda side: 1e-4
    seconds: float = 1.0

    def measured(self, ready: Ready, cases: Sequence[Listed], plans: Mapping[str, object], seed: int) -> Answers:
        name = ready.side.name
        ids = tuple(str(case.case) for case in cases)
        told = {}
        for case in ids:
            before = sum(case in asked for one, _, asked in self.asked if one == name)
            said = self.value(case, name, before)
            plan = {"number": 3} if (name, before) == ("a", 0) else plans.get(case)
            told[case] = said if isinstance(said, Told) else Told(said, self.seconds, plan=plan)  # type: ignore[arg-type]
        self.asked.append((name, seed, ids))
        return Answers(told, [self.control(name)])


Run = Callable[..., tuple[dict[str, Paired], Processes]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    def ran(processes: Processes, *names: str, **options: object) -> tuple[dict[str, Paired], Processes]:
        monkeypatch.setattr(_pairing, "measured", processes.measured)
        found = measure(side("a"), side("b"), [listed(name) for name in names], POLICY, **options)  # type: ignore[arg-type]
        return {one.case: one for one in found}, processes

    return ran


def slower(case: str, side: str, pair: int) -> float:
    return 0.0013 if (case, side) == ("slower", "b") else 0.001 + 1e-6 * (pair % 3)


def test_pairs_are_taken_in_turn_and_both_processes_of_a_pair_have_its_seed(run: Run) -> None:
    _, processes = run(Processes(slower), "same")

    assert [(name, seed) for name, seed, _ in processes.asked[:8]] == [
        ("a", 1), ("b", 1), ("b", 2), ("a", 2), ("a", 3), ("b", 3), ("b", 4), ("a", 4),
    ]  # fmt: skip


def test_a_case_that_is_settled_leaves_its_batch_and_a_change_is_looked_at_again_with_other_seeds(run: Run) -> None:
    found, processes = run(Processes(slower), "slower", "same")

    assert [len(look.pairs) for look in found["slower"].looks] == [6, 6]
    assert [len(look.pairs) for look in found["same"].looks] == [8]
    assert judge_paired(found["slower"], POLICY)[0] is Verdict.SLOWER
    assert judge_paired(found["same"], POLICY)[0] is Verdict.SAME
    first = {seed for _, seed, cases in processes.asked if "same" in cases}
    second = {seed for _, seed, cases in processes.asked if cases == ("slower",)}
    assert first == set(range(1, 9))
    assert len(second) == 6
    assert not first & second


def test_cases_share_processes_as_long_as_their_sides_stay_close_in_time(run: Run) -> None:
    _, processes = run(Processes(slower, seconds=6.0), "one", "other", "third")

    assert processes.asked[0][2] == ("one", "other", "third")
    assert {cases for _, seed, cases in processes.asked if seed == 2} == {("one",), ("other",), ("third",)}


def test_what_the_first_pair_planned_is_given_to_every_later_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given: list[object] = []
    processes = Processes(slower)

    def measured(ready: Ready, cases: Sequence[Listed], plans: Mapping[str, object], seed: int) -> Answers:
        given.append(plans.get("same"))
        return processes.measured(ready, cases, plans, seed)

    monkeypatch.setattr(_pairing, "measured", measured)
    list(measure(side("a"), side("b"), [listed("same")], POLICY))

    assert given[:2] == [None, None]
    assert all(plan == {"number": 3} for plan in given[2:])


def test_a_case_that_fails_on_one_side_says_so_and_the_others_go_on(run: Run) -> None:
    def value(case: str, side: str, pair: int) -> Told | float:
        return Told(failed="it died") if (case, side, pair) == ("fails", "b", 1) else slower(case, side, pair)

    found, processes = run(Processes(value), "fails", "same")

    assert found["fails"].failed == "failed on candidate: it died"
    assert judge_paired(found["fails"], POLICY)[0] is Verdict.FAILED
    assert judge_paired(found["same"], POLICY)[0] is Verdict.SAME
    assert (
        sum("fails" in cases for _, _, cases in processes.asked) == 2 + 1
    )  # b, which fails, is the first of the second pair


@pytest.mark.parametrize(("sides", "verdict"), [("ab", Verdict.UNJUDGED), ("a", Verdict.NEW), ("b", Verdict.MISSING)])
def test_a_case_that_does_not_apply_is_told_from_one_that_fails(run: Run, sides: str, verdict: Verdict) -> None:
    found, _ = run(Processes(lambda case, side, pair: Told(skipped="no such") if side in sides else 1.0), "absent")

    assert "no such" in found["absent"].failed
    assert judge_paired(found["absent"], POLICY)[0] is verdict


def test_a_case_that_neither_side_has_is_listed_only_where_both_say_the_same(run: Run) -> None:
    differing, _ = run(Processes(lambda case, side, pair: Told(skipped=f"{side} lacks it")), "absent")
    alike, _ = run(Processes(lambda case, side, pair: Told(skipped="no GPU")), "absent")

    assert not neither_has(differing["absent"].lacking, differing["absent"].failed)
    assert judge_paired(differing["absent"], POLICY)[0] is Verdict.UNJUDGED
    assert neither_has(alike["absent"].lacking, alike["absent"].failed)


def test_what_comes_says_its_version_the_delta_of_its_rule_and_whether_it_is_settled(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet = {("same", "1"): [0.001] * 40}
    found, _ = run(Processes(slower), "same", same_code=quiet)
    failed, _ = run(Processes(lambda case, side, pair: Told(failed="it died") if pair else 1e-3), "fails")
    clock: Iterator[float] = iter(range(1000))
    monkeypatch.setattr(_pairing.time, "monotonic", lambda: float(next(clock)))
    spent, _ = run(Processes(slower), "slower", budget_s=3)

    same = found["same"]
    assert (same.version, same.delta, same.settled) == ("1", pytest.approx(math.log1p(0.01)), True)
    assert not failed["fails"].settled
    assert not spent["slower"].settled


def test_what_is_open_when_the_budget_is_spent_comes_with_the_pairs_that_it_has(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock: Iterator[float] = iter(range(1000))
    monkeypatch.setattr(_pairing.time, "monotonic", lambda: float(next(clock)))

    found, _ = run(Processes(slower), "slower", budget_s=3)

    assert len(found["slower"].looks[0].pairs) == 3
    verdict, sentence, _ = judge_paired(found["slower"], POLICY)
    assert verdict is Verdict.INCONCLUSIVE
    assert "stopped before it was settled" in sentence


def test_ctrl_c_gives_what_was_measured_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def value(case: str, side: str, pair: int) -> float:
        if pair == 4:
            raise KeyboardInterrupt
        return slower(case, side, pair)

    monkeypatch.setattr(_pairing, "measured", Processes(value).measured)
    run = measure(side("a"), side("b"), [listed("slower")], POLICY)

    assert [len(look.pairs) for look in next(run).looks] == [4]
    with pytest.raises(KeyboardInterrupt):
        next(run)


def test_progress_says_how_many_are_open_and_for_how_long(run: Run) -> None:
    said: list[Progress] = []

    run(Processes(slower), "slower", "same", tell=said.append)

    assert said[0] == Progress(pairs=2, open=2, cases=2, left_s=2 * 7 * 2.0)
    assert said[-1].open == 0
    assert said[-1].pairs == 6 + 8 + 6


def test_pairs_of_the_same_code_on_record_make_the_threshold_finer(run: Run) -> None:
    def value(*asked: object) -> float:
        return 0.001013 if "b" in asked else 0.001

    coarse, _ = run(Processes(value), "little")
    fine, _ = run(Processes(value), "little", same_code={("little", "1"): [0.001] * 40})

    assert judge_paired(coarse["little"], POLICY)[0] is Verdict.SAME
    assert judge_paired(fine["little"], POLICY, [0.001] * 40)[0] is Verdict.SLOWER


def test_a_pattern_names_an_id_a_benchmark_or_what_matches_and_without_one_times_are_measured() -> None:
    cases = (listed("bench.time_it", param="mlp"), listed("bench.time_it", param="[8, 8]"), listed("bench.count", ""))

    def ids(*patterns: str) -> list[str]:
        return [str(case.case) for case in chosen(cases, patterns)]

    assert ids() == ["bench.time_it(mlp)", "bench.time_it([8, 8])"]
    assert ids("bench.time_it([8, 8])") == ["bench.time_it([8, 8])"]
    assert ids("bench.time_it") == ids()
    assert ids("bench.c*", "*(mlp)") == ["bench.time_it(mlp)", "bench.count"]
    with pytest.raises(UsageError, match=r"near it: .*bench\.time_it\(mlp\)"):
        ids("bench.time_it(mlb)")


def test_a_difference_that_is_below_0_has_no_ratio_and_is_soon_given_up(run: Run) -> None:
    found, _ = run(Processes(lambda case, side, pair: -1e-9), "difference")

    assert len(found["difference"].looks[0].pairs) == 5
    assert judge_paired(found["difference"], POLICY)[:2][0] is Verdict.INCONCLUSIVE
    assert not math.isnan(found["difference"].looks[0].pairs[0][0])
