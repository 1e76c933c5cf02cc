"""The page as people see it: opened in headless Chromium from a file, and asked what is on the screen."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from examples import load_case, run, timing

from pcbench.analysis.case_rows import case_rows
from pcbench.analysis.findings import Finding
from pcbench.analysis.records import Results, Verdict
from pcbench.analysis.series import Place
from pcbench.analysis.shown import Shown
from pcbench.reports import Table
from pcbench.reports._page import Section, page

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium: apt-get install chromium")

LOOK = """
<script>
window.addEventListener('load', () => setTimeout(() => {
  ACT
  setTimeout(() => {
    const seen = [...document.querySelectorAll('#case-table tbody tr')].filter(row => row.offsetParent);
    const told = {
      rows: seen.map(row => row.cells[0].textContent),
      values: seen.map(row => row.querySelector('.newest').textContent),
      count: document.getElementById('count').textContent,
      hash: location.hash,
      page: document.documentElement.scrollWidth,
      window: window.innerWidth,
      wide: [...document.querySelectorAll('body *')]
        .filter(each => !each.closest('.wide') && each.getBoundingClientRect().right > window.innerWidth + 1)
        .map(each => each.outerHTML.slice(0, 80)),
      cut: [...document.querySelectorAll('#case-table tr *')]
        .filter(each => each.getBoundingClientRect().right > window.innerWidth + 1).length,
      focus: document.activeElement.textContent,
      requests: performance.getEntriesByType('resource').filter(each => !each.name.startsWith('data:')).length,
    };
    parent.postMessage(JSON.stringify(told), '*');
  }, 700);
}, 50));
</script>
"""

# Chromium makes no window narrower than 500 pixels; a frame has any width.
FRAME = """<!doctype html><body><script>
addEventListener('message', message => {
  const said = document.createElement('pre');
  said.id = 'told';
  said.textContent = message.data;
  document.body.append(said);
});
</script><iframe width="WIDTH" height="900" style="border: 0" src="index.html#FRAGMENT"></iframe></body>"""

Look = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def page_html() -> str:
    times = {"fast": 900e-6, "middle": 20e-3, "slow": 1.5, "slower": 12.0}
    before = {load_case(name, "warm"): timing([time] * 3) for name, time in times.items()}
    others = {load_case("eager", "cold", f"model{i:04d}"): timing([0.1 + i] * 3) for i in range(2000)}
    runs = [run(0, before | others), run(1, before | others)]
    findings = [Finding(load_case("slow", "warm"), Verdict.SLOWER, "why", Place("toybox", "shared"))]
    wide = Table(("case", "what is said of it"), (("a" * 70, "no spaces_" * 60),))
    sections = [Section("overview", "What changed", "nothing", None, wide), *(Section("b", "b") for _ in "ab")]
    return page(sections, Results(tuple(runs)), case_rows(Shown(runs, findings)))


@pytest.fixture
def look(tmp_path: Path, page_html: str) -> Look:
    """Open the page, do what a line of JavaScript does as a user would, and tell what is seen."""

    def looked(fragment: str = "", act: str = "", width: int = 1200) -> dict[str, Any]:
        (tmp_path / "index.html").write_text(page_html.replace("</body>", LOOK.replace("ACT", act) + "</body>"))
        frame = tmp_path / "frame.html"
        frame.write_text(FRAME.replace("WIDTH", str(width)).replace("FRAGMENT", fragment))
        words = [
            *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"),
            *(f"--user-data-dir={tmp_path / 'profile'}", "--window-size=1300,900", "--virtual-time-budget=5000"),
            *("--dump-dom", frame.as_uri()),
        ]
        assert CHROMIUM is not None
        dom = subprocess.run([CHROMIUM, *words], capture_output=True, text=True, check=True, timeout=120).stdout
        found = re.search(r'<pre id="told">(.*?)</pre>', dom, re.DOTALL)
        assert found, dom[-500:]
        told: dict[str, Any] = json.loads(found[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
        return told

    return looked


def names(told: dict[str, Any]) -> list[str]:
    return [re.sub(r".*\((.*)\)", r"\1", row) for row in told["rows"]]


def test_a_link_with_a_search_and_an_order_shows_just_those_rows_sorted_by_number(look: Look) -> None:
    told = look("q=MLP+warm&sort=newest")

    assert names(told) == ["mlp, fast, warm", "mlp, middle, warm", "mlp, slow, warm", "mlp, slower, warm"]
    assert told["values"] == ["900 us", "20 ms", "1.50 s", "12 s"]
    assert told["count"] == "4 of 2004 cases"


def test_typing_narrows_the_rows_and_a_column_that_the_keyboard_reaches_sorts_them(look: Look) -> None:
    told = look(
        act="""
        const box = document.getElementById('search');
        box.value = 'warm'; box.dispatchEvent(new Event('input'));
        const button = document.querySelector('th[data-name=newest] button');
        button.focus(); button.click(); button.click();
        """
    )

    assert told["values"] == ["12 s", "1.50 s", "20 ms", "900 us"]
    assert told["hash"] == "#q=warm&sort=-newest"
    assert told["focus"] == "newest"


def test_the_worst_verdict_is_on_top_when_sorted_by_verdict(look: Look) -> None:
    told = look("sort=verdict")

    assert names(told)[0] == "mlp, slow, warm"
    assert len(told["rows"]) == 2004


def test_nothing_is_wider_than_a_phone_and_no_request_leaves_the_page(look: Look) -> None:
    told = look("q=warm", width=390)

    assert told["window"] == 390
    assert told["page"] == 390
    assert (told["wide"], told["cut"]) == ([], 0)
    assert told["requests"] == 0
