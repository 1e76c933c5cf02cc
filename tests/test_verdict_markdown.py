import html
import re
from dataclasses import replace

import pytest
from judgements import GPU_BOX, NASTY, finding, judgement, nasty
from markdown_it import MarkdownIt

from pcbench.analysis.findings import Judgement
from pcbench.analysis.records import Verdict
from pcbench.analysis.verdict_groups import visible
from pcbench.analysis.verdict_markdown import LIMIT, as_markdown


def rendered(text: str) -> str:
    page: str = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(text)
    return page


def cells(page: str) -> list[list[str]]:
    """The words in the cells of a page's table rows, without their tags."""
    rows = re.findall(r"<tr>(.*?)</tr>", page, re.DOTALL)
    return [
        [html.unescape(re.sub(r"<.*?>", "", cell)) for cell in re.findall(r"<td.*?>(.*?)</td>", row, re.DOTALL)]
        for row in rows
    ]


def test_what_got_worse_comes_first_in_a_table_and_the_rest_is_folded() -> None:
    found = [finding(verdict, str(verdict)) for verdict in (Verdict.SAME, Verdict.FASTER, Verdict.NEW, Verdict.SLOWER)]
    text = as_markdown(judgement(found, ("mlp", "no GPU")))

    assert text.startswith("### pcbench: exit 1: 1 case got worse (1 SLOWER); 1 case could not be judged (1 NEW)\n")
    assert (
        "| SLOWER | `bench_load.Load.track_first_output(SLOWER)` | 1 s | 1.25 s | 1.250 "
        "| beyond 5%; accepted 1a2b3c4d |" in text.splitlines()
    )
    assert text.index("| SLOWER") < text.index("Could not be judged") < text.index("<details><summary>Faster: 1")
    assert "Same: 1 case; not judged, on both sides: 1 case (1: no GPU)." in text.splitlines()


def test_the_place_is_a_column_where_there_are_several() -> None:
    text = as_markdown(judgement([finding(Verdict.SLOWER), finding(Verdict.SLOWER, place=GPU_BOX)]))

    assert [row[2] for row in cells(rendered(text)) if row] == [str(GPU_BOX), "shared-torch2.15.0 on vm"]


def test_where_pairs_decided_the_ratio_is_theirs_and_the_stored_numbers_are_headed_so() -> None:
    told = replace(finding(Verdict.SLOWER, paired=True), reason="2.229 times (2.2-2.3)", paired_ratio=2.229)
    lines = as_markdown(judgement([told])).splitlines()

    assert "| verdict | case | stored before | stored after | ratio | evidence | rule |" in lines
    (row,) = [line for line in lines if line.startswith("| SLOWER")]
    assert row.endswith(
        "| 1 s | 1.25 s | 2.229 | 2.229 times (2.2-2.3) | beyond 5%; accepted 1a2b3c4d; pairs of processes |"
    )


def test_pairs_without_a_ratio_show_none_in_place_of_the_stored_one() -> None:
    assert "| 1 s | 1.25 s |  | " in as_markdown(judgement([finding(Verdict.SLOWER, paired=True)]))


def test_what_a_stored_verdict_says_beside_its_numbers_is_told() -> None:
    words = "1 TENSOR_MATCH more, of L['x']; 1 guard in all; 7 of 9 timings moved the same way: the machine"
    told = replace(finding(Verdict.SLOWER), reason=f"46 -> 47; {words}")
    (row,) = [row for row in cells(rendered(as_markdown(judgement([told])))) if row]

    assert row[-2:] == [words, "beyond 5%; accepted 1a2b3c4d"]


def test_a_long_census_cuts_neither_the_rule_nor_what_it_was_compared_with() -> None:
    told = replace(finding(Verdict.CHANGED), reason="46 -> 47; " + "1 guard more, " * 100)

    assert "… | beyond 5%; accepted 1a2b3c4d |" in as_markdown(judgement([told]))


def test_names_that_markdown_would_eat_are_shown_as_they_are() -> None:
    rows = [row for row in cells(rendered(as_markdown(nasty()))) if row]

    slower = {row[1]: row for row in rows if row[0] == "SLOWER"}
    assert set(slower) == {f"b.track_{visible(text)}({visible(text)})" for text in NASTY}
    for name, row in slower.items():
        place = name.removeprefix("b.track_").partition("(")[0]
        assert row[2].replace("\u2060", "") == f"env on {place}"
        assert len(row) == 8
    assert {len(row) for row in rows if row[0] == "FAILED"} == {5}


def test_nobody_is_mentioned_and_no_markup_gets_through() -> None:
    text = as_markdown(nasty())

    assert not re.search(r"@\w", re.sub(r"`[^`]*`|<code>.*?</code>", "", html.unescape(text)))
    assert "<script>" not in re.sub(r"`[^`\n]*`", "", text)
    assert "<strong>bold" not in rendered(text)


@pytest.mark.parametrize("name", ["model{}", "model{} " + "x" * 400, "|{}|" + "🔥" * 200])
def test_a_comment_stays_below_the_limit_and_says_how_much_was_cut(name: str) -> None:
    found = [
        finding(verdict, name.format(i)) for i in range(1000) for verdict in (Verdict.SLOWER, Verdict.INCONCLUSIVE)
    ]
    text = as_markdown(judgement(found, notes=["a note " * 100] * 500))

    assert len(text.encode()) <= LIMIT
    shown = text.count("| SLOWER |")
    assert 0 < shown < 1000
    assert f"and {1000 - shown:,} more: the comment would be too long." in text.splitlines()
    assert "and 490 more notes" in text
    assert text.count("<details>") == text.count("</details>") == 1


def test_numbers_that_are_not_finite_are_shown() -> None:
    odd = replace(finding(Verdict.SLOWER), baseline=float("nan"), candidate=float("inf"))

    assert "| nan | inf | nan |" in as_markdown(judgement([odd]))


def test_a_judgement_of_nothing_says_so() -> None:
    assert as_markdown(Judgement(())).startswith("### pcbench: exit 2: nothing was compared\n")
