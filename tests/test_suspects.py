"""Which cases pairs of processes are to decide."""

from __future__ import annotations

from pcbench.analysis.findings import Finding
from pcbench.analysis.policy import Policy
from pcbench.analysis.records import Case, Verdict
from pcbench.analysis.series import Place
from pcbench.analysis.suspects import cut, restless, suspects

POLICY = Policy()
HERE = Place("lab", "env")


def finding(name: str, verdict: Verdict, ratio: float, unit: str = "seconds", paired: bool = False) -> Finding:
    return Finding(Case(name), verdict, "", HERE, unit=unit, baseline=1e-3, candidate=ratio * 1e-3, paired=paired)


FOUND = [
    finding("a.slightly", Verdict.INCONCLUSIVE, 1.08),
    finding("b.much", Verdict.INCONCLUSIVE, 1.30),
    finding("c.gross", Verdict.SLOWER, 2.5),
    finding("d.beyond_doubt", Verdict.SLOWER, 40.0),
    finding("e.faster", Verdict.INCONCLUSIVE, 0.7),
    finding("f.same", Verdict.SAME, 1.01),
    finding("g.count", Verdict.SLOWER, 1.5, unit=""),
    finding("h.decided", Verdict.INCONCLUSIVE, 1.2, paired=True),
    finding("i.machine", Verdict.HOST, 2.2),
]


def names(found: object) -> list[str]:
    return [one.finding.case.benchmark for one in found]  # type: ignore[attr-defined]


def test_slower_timings_that_stored_numbers_do_not_settle_come_first_by_size() -> None:
    assert names(suspects(FOUND, POLICY)) == ["c.gross", "i.machine", "b.much", "a.slightly", "e.faster"]


def test_what_history_alerts_on_is_a_suspect_though_it_looks_the_same() -> None:
    found = suspects(FOUND, POLICY, {"f.same"})
    assert "f.same" in names(found)
    assert "f.same" not in names(suspects(FOUND, POLICY))


def test_what_pairs_blamed_on_the_machine_or_failed_in_is_taken_again() -> None:
    again = [
        finding("a.machine", Verdict.HOST, 1.2, paired=True),
        finding("b.failed", Verdict.FAILED, 1.01, paired=True),
        finding("c.slower", Verdict.SLOWER, 1.2, paired=True),
        finding("d.same", Verdict.SAME, 1.2, paired=True),
    ]
    assert names(suspects(again, POLICY)) == ["a.machine", "b.failed"]


def test_what_does_not_fit_is_cut_from_the_end_and_the_first_is_kept() -> None:
    found = suspects(FOUND, POLICY, (), {str(one.case): 1.0 for one in FOUND})
    kept, rest = cut(found, 170.0)
    assert (names(kept), names(rest)) == (["c.gross", "i.machine"], ["b.much", "a.slightly", "e.faster"])
    assert names(cut(found, 1.0)[0]) == ["c.gross"]


def test_a_benchmark_with_a_suspect_is_not_quiet() -> None:
    assert restless(FOUND[4:7], POLICY) == ("e.faster",)
    assert restless([FOUND[5]], POLICY) == ()
