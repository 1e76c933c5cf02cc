from xml.etree import ElementTree

from judgements import GPU_BOX, NASTY, finding, judgement, nasty

from pcbench.analysis.findings import Judgement
from pcbench.analysis.records import Verdict
from pcbench.analysis.verdict_groups import visible
from pcbench.analysis.verdict_junit import as_junit

EXPECTED = {
    **dict.fromkeys(("SLOWER", "CHANGED"), "failure"),
    **dict.fromkeys(("FAILED", "MISSING", "UNJUDGED", "HOST", "NEW"), "error"),
    "INCONCLUSIVE": "skipped",
    **dict.fromkeys(("FASTER", "SAME"), "system-out"),
}


def parsed(told: Judgement) -> ElementTree.Element:
    return ElementTree.fromstring(as_junit(told).encode())


def test_each_verdict_has_its_element() -> None:
    root = parsed(judgement([finding(verdict, str(verdict)) for verdict in Verdict], ("gone", "no GPU")))

    found = {test.get("name"): test[0].tag for test in root.iter("testcase")}
    expected = {f"track_first_output({verdict})": element for verdict, element in EXPECTED.items()}
    assert found == expected | {"track(gone)": "skipped"}
    assert {key: root.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "11",
        "failures": "2",
        "errors": "5",
        "skipped": "2",
    }


def test_a_failure_says_why_and_by_which_rule() -> None:
    (failure,) = parsed(judgement([finding(Verdict.SLOWER)])).iter("failure")

    assert failure.get("message") == "SLOWER: 1 s -> 1.25 s"
    assert failure.text == "beyond 5%\naccepted 1a2b3c4d"


def test_each_place_is_a_suite_with_its_counts() -> None:
    root = parsed(judgement([finding(Verdict.SAME), finding(Verdict.SLOWER, place=GPU_BOX)], notes=["not read: x"]))

    assert [(suite.get("name"), suite.get("failures")) for suite in root] == [
        (str(GPU_BOX), "1"),
        ("shared-torch2.15.0 on vm", "0"),
    ]
    assert root.findtext("testsuite/system-err") == "not read: x"


def test_names_that_xml_cannot_hold_are_written_out() -> None:
    root = parsed(nasty())

    names = {test.get("name") for test in root.iter("testcase") if test.find("failure") is not None}
    assert len(names) == len(NASTY)
    assert "track_nul\\x00esc\\x1b[31mred(nul\\x00esc\\x1b[31mred)" in names
    messages = {failure.get("message") for failure in root.iter("failure")}
    assert messages == {f"SLOWER: {visible(text)}" for text in NASTY}


def test_a_judgement_of_nothing_is_no_green_run() -> None:
    root = parsed(Judgement(()))

    assert (root.get("tests"), root.get("errors")) == ("1", "1")
