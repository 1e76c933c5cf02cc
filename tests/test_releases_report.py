"""Torch builds side by side: what is compared with what, and what the figure and the table say."""

from __future__ import annotations

from dataclasses import replace

import pytest
from examples import four_builds, history, load_case
from figures import drawn, texts
from matplotlib.patches import Rectangle

from pcbench.analysis.neighbours import version_key
from pcbench.analysis.releases_table import releases
from pcbench.analysis.shown import Shown
from pcbench.errors import UsageError
from pcbench.reports import releases as report

BUILDS = ["2.13.0", "2.14.1", "2.15.0", "2.16.0.dev20261129+cpu"]
HOT = load_case("aoti", "hot")


def test_builds_are_in_the_order_of_their_versions_beside_the_oldest() -> None:
    (found,) = releases(list(reversed(four_builds())))

    assert list(found.builds) == BUILDS
    assert found.against == "2.13.0"
    assert found.ratio(load_case("export", "warm"), BUILDS[3]) == pytest.approx(4 / 3)
    assert found.ratio(load_case("eager", "warm"), BUILDS[3]) == 1.0


def test_a_nightly_comes_before_its_release_and_1_10_after_1_9() -> None:
    versions = ["1.10.0", "2.16.0", "2.16.0.dev20261130", "2.16.0.dev20261129+cu", "1.9.1"]

    assert sorted(versions, key=version_key) == [versions[i] for i in (4, 0, 3, 2, 1)]


def test_another_build_to_compare_with_can_be_named() -> None:
    (found,) = releases(four_builds(), "2.15.0")

    assert found.ratio(load_case("export", "warm"), "2.13.0") == pytest.approx(1 / 0.8)


def test_a_build_that_no_result_has_is_an_error_that_names_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"no result is of torch 2\.1\.0") as raised:
        releases(four_builds(), "2.1.0")

    assert raised.value.hint == f"there are: {', '.join(BUILDS)}"


@pytest.mark.parametrize("field", ["threads", "profile", "gpu"])
def test_builds_that_differ_in_anything_else_are_not_compared(field: str) -> None:
    one, other, *_ = (replace(run, environment=f"{run.environment}-PCBENCH_PROFILEquick") for run in four_builds())
    assert len(releases([one, other])) == 1
    assert other.context is not None
    changed = replace(other.context, **{field: 8 if field == "threads" else "another"})

    assert releases([one, replace(other, context=changed)]) == []


def test_the_commit_that_most_builds_have_counts_before_a_newer_one() -> None:
    runs = four_builds()
    newer = replace(runs[0], commit="f" * 40, date=history(9)[8].date)
    (found,) = releases([*runs, newer])

    assert {run.commit for run in found.builds.values()} == {runs[0].commit}


def test_cells_say_ratio_and_direction_and_a_cell_without_a_number_is_hatched() -> None:
    figure = drawn(report.REPORT.draw(Shown(four_builds())))
    said = texts(figure)
    hatched = [patch for patch in figure.findobj(Rectangle) if patch.get_hatch()]

    assert {"▲ 1.33", "▼ 0.80", "1.00", "n/a"} <= set(said)
    assert "torch\n2.16.0\ndev20261129" in said
    assert len(hatched) == 1


def test_the_title_says_how_many_cases_moved_with_the_newest_build() -> None:
    title = " ".join(drawn(report.REPORT.draw(Shown(four_builds()))).get_suptitle().split())

    assert title.startswith(
        "torch 2.16.0.dev20261129 beside 2.13.0: of 9 cases 6 took over 5% more, 0 less; furthest: "
    )
    assert title.endswith("1.33 times; not a verdict")


def test_the_caption_names_the_machine_once_and_every_build() -> None:
    caption = " ".join(drawn(report.REPORT.draw(Shown(four_builds()))).get_supxlabel().split())

    assert caption.count("a processor") == 1
    assert all(f"torch {build}, triton" in caption for build in BUILDS)


def test_the_table_has_numbers_quartiles_ratios_and_why_there_is_none() -> None:
    table = report.REPORT.table(Shown(four_builds()))
    assert table is not None
    cells = next(row for row in table.rows if row[0] == str(load_case("export", "warm")))
    lost = next(row for row in table.rows if row[0] == str(HOT))

    assert cells[1] == "2.24 s (2.22 s to 2.26 s, n=5)"
    assert cells[3].endswith("n=5), 0.80 times")
    assert lost[2] == "UNAVAILABLE: no hot load there"


def test_one_build_alone_has_nothing_to_show() -> None:
    assert report.REPORT.draw(Shown(history(5))) is None
    assert report.REPORT.table(Shown(history(5))) is None
