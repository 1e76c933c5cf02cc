"""Made-up judgements, where a test needs verdicts that it knows."""

from __future__ import annotations

from collections.abc import Sequence

from pcbench.analysis.findings import Finding, Judgement, worst_first
from pcbench.analysis.records import Case, Verdict
from pcbench.analysis.series import Place

VM, GPU_BOX = Place("vm", "shared-torch2.15.0"), Place("gpubox", "shared-torch2.15.0")
OTHER_TORCH = "another torch: 2.14.1 in the baseline, 2.15.0 now"
NASTY = (
    "a|b",
    "`x` ``y``",
    "*bold* _it_ ~s~ \\|",
    "<script>&amp;</script>",
    "line\nbreak\r\ttab",
    "nul\x00esc\x1b[31mred",
    "emoji 🔥 \u202egnp",
    "half \ud83d of a pair",
    "]]> -->",
    "100%, a:b; @someone #12 $x$",
    "'quoted' \"twice\"",
    "\uffff",
)


def finding(verdict: Verdict, name: str = "encoder", *, place: Place = VM, paired: bool = False) -> Finding:
    """On ``bench_load.Load.track_first_output(name)``; 1 s, and 1.25 s where it got worse."""
    case = Case("bench_load.Load.track_first_output", (("model", name),))
    after = 1.25 if verdict in (Verdict.SLOWER, Verdict.INCONCLUSIVE) else 1.0
    reason = {
        Verdict.UNJUDGED: OTHER_TORCH,
        Verdict.NEW: "it has no baseline",
        Verdict.FAILED: "CRASHED: ended by SIGSEGV",
        Verdict.MISSING: "it was not measured",
    }.get(verdict, f"1 s -> {after} s")
    rule = "" if verdict in (Verdict.UNJUDGED, Verdict.NEW, Verdict.FAILED, Verdict.MISSING) else "beyond 5%"
    return Finding(case, verdict, reason, place, rule, "seconds", 1.0, after, "accepted 1a2b3c4d", paired)


def judgement(findings: Sequence[Finding], *unavailable: tuple[str, str], notes: Sequence[str] = ()) -> Judgement:
    """With the names and reasons of cases that neither side has."""
    absent = tuple((Case("bench_gone.track", (("model", name),)), reason) for name, reason in unavailable)
    return Judgement(worst_first(findings), absent, "accepted 1a2b3c4d", f"9f8e7d6c in {VM}", tuple(notes))


def nasty() -> Judgement:
    """Names, reasons and notes with what terminals, XML, markdown and GitHub take for their own."""
    findings = [
        Finding(Case(f"b.track_{text}", (("p", text),)), verdict, text, Place(text, "env"), text, text, 1.0, 2.0, text)
        for text in NASTY
        for verdict in (Verdict.SLOWER, Verdict.FAILED, Verdict.INCONCLUSIVE, Verdict.SAME)
    ]
    return Judgement(worst_first(findings), tuple((Case(text), text) for text in NASTY), *NASTY[:2], NASTY)
