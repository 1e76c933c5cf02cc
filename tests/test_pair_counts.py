"""Cases that are no times, with the processes replaced by what they would say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pcbench.analysis.asv_suite import Benchmark
from pcbench.analysis.findings import Finding
from pcbench.analysis.policy import Policy
from pcbench.analysis.records import Case, Kind, Verdict
from pcbench.commands import _pair_counts
from pcbench.commands._pair_counts import count_findings
from pcbench.commands._pair_output import Compared
from pcbench.commands._pair_processes import Answers, Listed, Told
from pcbench.paired import Side
from pcbench.sides import Ready, Suite

Value = Callable[[str, int], float | Told]
Found = tuple[list[Finding], bool, list[str]]


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> Callable[[Kind, Value], Found]:
    """The findings, whether neither side has a case, and the sides in the order in which they were asked."""

    def ran(kind: Kind, value: Value, codegen: str = "") -> Found:
        asked: list[str] = []

        def measured(ready: Ready, *_: object) -> Answers:
            said = value(ready.side.name, asked.count(ready.side.name))
            asked.append(ready.side.name)
            return Answers({"it": said if isinstance(said, Told) else Told(said)})

        monkeypatch.setattr(_pair_counts, "measured", measured)
        one, other = (Ready(Side(name, name * 40), "python", Path(name), Suite(Path("b")), {}) for name in "ab")
        compared = Compared(one.side, other.side, "lab", Policy(), {})
        case = Listed(Case("it"), Benchmark("1", "bytes", (), "up", kind=kind, codegen=codegen), None, 60.0)
        return (*count_findings(compared, (one, other), [case]), asked)

    return ran


def test_a_count_is_taken_twice_a_side_and_is_unstable_where_the_same_code_says_two(
    found: Callable[[Kind, Value], Found],
) -> None:
    (stable,), _, asked = found("count", lambda side, taken: 4.0 if side == "b" else 3.0)
    (unstable,), _, _ = found("count", lambda side, taken: 4.0 if (side, taken) == ("b", 1) else 3.0)

    assert stable.verdict is Verdict.SLOWER
    assert asked == ["a", "b", "b", "a"]
    assert unstable.verdict is Verdict.FAILED
    assert unstable.reason == "UNSTABLE: on candidate two processes of the same code say 3 B and 4 B"


def test_more_registers_and_fewer_are_left_to_the_rules_for_machine_code(
    found: Callable[..., Found],
) -> None:
    for more in (1.0, -1.0):
        (finding,), _, _ = found("count", lambda side, taken, more=more: 64 + more * (side == "b"), "registers")
        assert finding.verdict is Verdict.INCONCLUSIVE
        assert "pcbench codegen diff" in finding.reason
        assert finding.confirm


def test_what_is_nearly_exact_is_taken_three_times_in_turn_and_judged_by_its_range(
    found: Callable[[Kind, Value], Found],
) -> None:
    def value(side: str, taken: int) -> float:
        return 10_000.0 + 100 * taken + (300 if side == "b" else 0)

    (ranged,), _, asked = found("bytes", value)
    (steady,), _, _ = found("bytes", lambda side, taken: 10_000.0 + (300 if side == "b" else 0))

    assert asked == ["a", "b", "b", "a", "a", "b"]
    assert "4 times the range of the samples" in ranged.rule
    assert ranged.verdict is not Verdict.SLOWER
    assert steady.verdict is Verdict.SLOWER
    assert "measured 3 times a side" in steady.reason


def test_a_number_that_stays_whole_is_exact_and_one_that_varies_is_not(found: Callable[[Kind, Value], Found]) -> None:
    (exact,), _, _ = found("number", lambda side, taken: 101.0 if side == "b" else 100.0)
    (varying,), _, _ = found("number", lambda side, taken: 101.0 + taken if side == "b" else 100.0)

    assert exact.verdict is Verdict.SLOWER
    assert varying.verdict is Verdict.SAME


def test_a_case_that_neither_side_has_is_listed_only_where_both_say_the_same(
    found: Callable[[Kind, Value], Found],
) -> None:
    alike, neither, asked = found("count", lambda side, taken: Told(skipped="no GPU"))
    (differing,), _, _ = found("count", lambda side, taken: Told(skipped=f"{side} lacks it"))

    assert (alike, neither, asked) == ([], True, ["a", "b"])
    assert differing.verdict is Verdict.UNJUDGED
