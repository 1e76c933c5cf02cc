from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from examples import history, load_case, run, timing

from pcbench.analysis.records import Absence, Problem, Results
from pcbench.reports import Table
from pcbench.reports._page import Section, page

PNG = b"\x89PNG\r\n\x1a\n"


class Read(HTMLParser):
    """The page's text, what it refers to, and whether every element is closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text = ""
        self.references: list[str] = []
        self.anchors: list[str] = []
        self.open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.references += [value or "" for name, value in attrs if name in ("src", "href")]
        self.anchors += [value or "" for name, value in attrs if name == "id"]
        if tag not in ("meta", "link", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture
def sections() -> list[Section]:
    table = Table(("case", "newest"), (("a<b>", "1.00 s"),))
    return [Section("load", "Load", "aoti & export", PNG, table), Section("trend", "Trend")]


def test_the_page_refers_to_nothing_outside_itself(sections: list[Section]) -> None:
    read = Read(page(sections, Results(tuple(history(2)))))

    assert read.open == []
    assert all(reference.startswith(("data:", "#")) for reference in read.references)
    assert {reference[1:] for reference in read.references if reference.startswith("#")} <= set(read.anchors)


def test_figures_are_embedded_with_their_finding_and_numbers_as_a_table(sections: list[Section]) -> None:
    html = page(sections, Results(tuple(history(2))))

    assert 'alt="aoti &amp; export" src="data:image/png;base64,iVBORw0KGgo="' in html
    assert "1.00 s" in Read(html).text
    assert "a&lt;b&gt;" in html


def test_a_report_that_has_nothing_to_show_says_so(sections: list[Section]) -> None:
    assert "The results hold nothing that this report shows." in page(sections, Results(tuple(history(1))))


def test_broken_files_are_named_and_escaped(sections: list[Section]) -> None:
    problem = Problem(Path("results/toybox/<x>.json"), "is not JSON: <script>alert(1)</script>")
    html = page(sections, Results(tuple(history(1)), (problem,)))

    assert "<script" not in html
    assert "toybox/<x>.json is not JSON: <script>alert(1)</script>" in Read(html).text


def test_cases_without_a_number_are_listed_with_their_reasons(sections: list[Section]) -> None:
    absences = {
        load_case("aoti", "cold"): Absence("CRASHED", "SIGSEGV <here>"),
        load_case("x", "cold"): Absence("failed"),
    }
    text = Read(page(sections, Results((run(0, {load_case("export", "cold"): timing([1.0])}, absences),)))).text

    assert "bench_load.Load.track_first_output(mlp, aoti, cold)CRASHEDSIGSEGV <here>" in text
    assert "no reason recorded" in text


def test_cases_that_the_run_did_not_start_are_counted_not_listed(sections: list[Section]) -> None:
    absences = {load_case("aoti", t): Absence("n/a") for t in ("cold", "warm")}
    text = Read(page(sections, Results((run(0, {load_case("export", "cold"): timing([1.0])}, absences),)))).text

    assert "2 cases were not measured in this run." in text
    assert "track_first_output(mlp, aoti" not in text
    assert "Every case has one" not in text


def test_the_environment_is_a_column_only_where_there_are_several(sections: list[Section]) -> None:
    found = {load_case("aoti", "cold"): Absence("CRASHED", "why")}
    one, other = run(0, {}, found), run(1, {}, found, environment="other")

    assert page(sections, Results((one,))).count(">environment</th>") == 1
    assert page(sections, Results((one, other))).count(">environment</th>") == 2


def test_flags_and_driver_of_a_run_are_shown_where_it_had_any(sections: list[Section]) -> None:
    (plain,) = history(1)
    assert plain.context is not None
    flagged = replace(
        plain,
        context=replace(plain.context, driver="999.1", compiler="g++ 12", load_average=3.81, flags={"TORCH_A": "1"}),
    )

    assert "TORCH_A=1" not in page(sections, Results((plain,)))
    text = Read(page(sections, Results((flagged,)))).text
    assert "committednewest ran ondriverC++ compilerload when it beganflags" in text
    assert "999.1g++ 123.8TORCH_A=1" in text


def test_what_is_wider_than_a_phone_says_that_it_scrolls(sections: list[Section]) -> None:
    html = page(sections, Results(tuple(history(1))))

    assert html.count("Swipe sideways") >= 2


def test_only_the_newest_commit_of_an_environment_is_asked_for_what_is_missing(sections: list[Section]) -> None:
    old = run(0, {}, {load_case("aoti", "cold"): Absence("CRASHED", "long ago")})
    new = run(1, {load_case("aoti", "cold"): timing([1.0])})
    text = Read(page(sections, Results((old, new)))).text

    assert "long ago" not in text
    assert "Every case has one." in text


def test_the_page_says_what_the_newest_run_ran_on(sections: list[Section]) -> None:
    text = Read(page(sections, Results(tuple(history(3))))).text

    assert "toybox, a processor, 2 CPUs; torch 2.15.0, triton 3.9.0, threads 2" in text
