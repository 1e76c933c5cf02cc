from dataclasses import replace

from judgements import OTHER_TORCH, finding, judgement, nasty

from pcbench.analysis.findings import Judgement
from pcbench.analysis.records import Case, Verdict
from pcbench.analysis.verdict_annotations import annotations


def test_worse_is_an_error_unknown_a_warning_and_undecided_a_notice() -> None:
    lines = annotations(judgement([finding(verdict) for verdict in Verdict]))

    kinds = [line.split()[0] + " " + line.split("=")[1].split()[0] for line in lines]
    assert kinds == [
        *("::error SLOWER", "::error CHANGED"),
        *("::warning FAILED", "::warning MISSING", "::warning HOST", "::warning UNJUDGED", "::warning NEW"),
        *("::notice INCONCLUSIVE", "::notice FASTER"),
    ]


def test_what_github_takes_for_its_own_is_escaped() -> None:
    odd = replace(finding(Verdict.SLOWER), case=Case("b.track", (("p", "50%: a,b\r\n"),)), reason="50%\n: a, b")

    assert annotations(judgement([odd])) == (
        "::error title=SLOWER b.track(50%25%3A a%2Cb\\r\\n)::50%25\\n: a, b; beyond 5%25; accepted 1a2b3c4d; "
        "shared-torch2.15.0 on vm",
    )
    assert all(line.startswith("::") and "\n" not in line and line.isprintable() for line in annotations(nasty()))


def test_of_each_kind_there_are_ten_and_the_last_tells_how_many_were_left_out() -> None:
    found = [replace(finding(Verdict.SLOWER, f"model{i}"), reason=f"1 s -> {i} s") for i in range(25)]
    lines = annotations(judgement([*found, finding(Verdict.FASTER)]))

    assert [line.split()[0] for line in lines] == ["::error"] * 10 + ["::notice"]
    assert lines[9] == "::error title=pcbench::16 more cases: the step's log lists them"


def test_ten_of_a_kind_are_all_shown() -> None:
    found = [replace(finding(Verdict.SLOWER, f"model{i}"), reason=f"1 s -> {i} s") for i in range(10)]

    assert not any("more cases" in line for line in annotations(judgement(found)))


def test_cases_with_one_reason_are_one_annotation() -> None:
    (line,) = annotations(judgement([finding(Verdict.UNJUDGED, f"model{i}") for i in range(1240)]))

    assert line.startswith(
        "::warning title=UNJUDGED bench_load.Load.track_first_output(model0) and 1%2C239 more::another"
    )
    assert OTHER_TORCH in line


def test_a_judgement_of_nothing_is_an_error() -> None:
    assert annotations(Judgement(())) == ("::error title=pcbench::exit 2: nothing was compared",)
