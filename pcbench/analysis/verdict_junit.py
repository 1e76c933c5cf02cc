"""A judgement as JUnit XML, for what shows test results: a suite for each place, a test for each case."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from pcbench.analysis.findings import UNKNOWN, WORSE, Finding, Judgement
from pcbench.analysis.records import Case, Verdict
from pcbench.analysis.verdict_groups import confirmed_by, decided_by, outcome, places, visible

_ELEMENTS = {
    **dict.fromkeys(WORSE, "failure"),
    **dict.fromkeys(UNKNOWN, "error"),
    Verdict.INCONCLUSIVE: "skipped",
}


def as_junit(judgement: Judgement) -> str:
    """An XML document: SLOWER and CHANGED are failures, what could not be judged errors, what is undecided skipped.

    A judgement without findings has one test, which is an error: a run of no tests would be shown as passed.
    """
    root = ElementTree.Element("testsuites", name="pcbench")
    for place, findings in places(judgement).items():
        _counted(_suite(root, str(place), findings))
    if judgement.unavailable:
        suite = _suite(root, "not judged", ())
        for case, reason in judgement.unavailable:
            ElementTree.SubElement(_test(suite, case), "skipped", message=visible(reason))
        _counted(suite)
    if not judgement.findings:
        suite = _suite(root, "pcbench", ())
        test = _test(suite, Case("pcbench.gate"))
        ElementTree.SubElement(test, "error", message=outcome(judgement), type="nothing was compared")
        _counted(suite)
    if judgement.notes:
        ElementTree.SubElement(root[0], "system-err").text = "\n".join(map(visible, judgement.notes))
    for name in ("tests", "failures", "errors", "skipped"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    ElementTree.indent(root, " ")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(root, encoding="unicode")}'


def _suite(root: ElementTree.Element, name: str, findings: Sequence[Finding]) -> ElementTree.Element:
    suite = ElementTree.SubElement(root, "testsuite", name=visible(name))
    for finding in findings:
        test = _test(suite, finding.case)
        reason = visible(finding.reason)
        rule = "\n".join(filter(None, (*decided_by(finding), confirmed_by(finding))))
        element = _ELEMENTS.get(finding.verdict)
        if element is None:
            ElementTree.SubElement(test, "system-out").text = f"{finding.verdict}: {reason}\n{rule}"
        else:
            message = f"{finding.verdict}: {reason}"
            ElementTree.SubElement(test, element, message=message, type=finding.verdict).text = rule
    return suite


def _test(suite: ElementTree.Element, case: Case) -> ElementTree.Element:
    group, _, name = case.benchmark.rpartition(".")
    params = f"({', '.join(value for _, value in case.params)})" if case.params else ""
    return ElementTree.SubElement(suite, "testcase", classname=visible(group), name=visible(name + params), time="0")


def _counted(suite: ElementTree.Element) -> None:
    counts = {"tests": len(suite)}
    for plural, element in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        counts[plural] = len(suite.findall(f"testcase/{element}"))
    for name, count in counts.items():
        suite.set(name, str(count))
