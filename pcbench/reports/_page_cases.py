"""The page's table of all cases: whole without JavaScript; with it, a search box and columns that sort."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from pcbench.analysis.case_rows import CaseRow
from pcbench.analysis.findings import UNKNOWN, WORSE
from pcbench.analysis.quantities import counted, digits, quantity
from pcbench.analysis.records import Verdict

_COLUMNS = (
    ("case", "text"),
    ("verdict", "number"),
    ("newest", "number"),
    ("/ before", "number"),
    ("quartiles", "number"),
    ("n", "number"),
    ("steps", "number"),
    ("commits", "number"),
    ("environment", "text"),
)
_LAST = math.inf
"""What has no number comes last in ascending order."""

SCRIPT = """
(() => {
  const table = document.getElementById('case-table'), body = table.tBodies[0];
  const box = document.getElementById('search'), count = document.getElementById('count');
  const rows = [...body.rows], texts = rows.map(row => row.textContent.toLowerCase());
  const heads = [...table.tHead.rows[0].cells];
  let sorted = '';
  const value = (row, column) => {
    const cell = row.cells[column];
    return heads[column].dataset.kind === 'number' ? Number(cell.dataset.v) : cell.textContent;
  };
  const compare = (a, b) => a < b ? -1 : a > b ? 1 : 0;
  function sort(by) {
    const down = by.startsWith('-'), column = heads.findIndex(head => head.dataset.name === by.replace('-', ''));
    if (column < 0) return;
    sorted = by;
    heads.forEach((head, i) => head.setAttribute('aria-sort',
      i !== column ? 'none' : down ? 'descending' : 'ascending'));
    const keyed = rows.map((row, i) => [value(row, column), i, row]);
    const missing = key => key === Infinity;
    keyed.sort((a, b) => missing(a[0]) - missing(b[0]) || (down ? compare(b[0], a[0]) : compare(a[0], b[0]))
      || a[1] - b[1]);
    body.append(...keyed.map(entry => entry[2]));
  }
  function filter() {
    const words = box.value.toLowerCase().split(/\\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, i) => {
      const fits = words.every(word => texts[i].includes(word));
      row.hidden = !fits;
      shown += fits;
    });
    count.textContent = `${shown} of ${rows.length} cases`;
  }
  function keep() {
    const said = new URLSearchParams();
    if (box.value) said.set('q', box.value);
    if (sorted) said.set('sort', sorted);
    location.replace('#' + (said.toString() || 'cases'));
  }
  function follow() {
    const said = new URLSearchParams(location.hash.slice(1));
    if (!said.has('q') && !said.has('sort')) return;
    if (said.has('q') && box.value !== said.get('q')) box.value = said.get('q');
    if (said.has('sort') && sorted !== said.get('sort')) sort(said.get('sort'));
    filter();
  }
  heads.forEach(head => {
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener('click', () => {
      const name = head.dataset.name;
      sort(sorted === name ? '-' + name : name);
      keep();
    });
  });
  let waiting;
  box.addEventListener('input', () => { filter(); clearTimeout(waiting); waiting = setTimeout(keep, 400); });
  document.getElementById('finder').hidden = false;
  window.addEventListener('hashchange', follow);
  filter();
  follow();
  if (box.value || sorted) document.getElementById('cases').scrollIntoView();
})();
"""


def cases_section(rows: Sequence[CaseRow]) -> str:
    """The heading, the search box and the table; the script that makes them work is :data:`SCRIPT`."""
    places = {row.place for row in rows}
    # A column in which no row has anything is left out.
    told = [
        name not in ("verdict", "/ before", "steps", "environment")
        or (name == "verdict" and any(row.verdict for row in rows))
        or (name == "/ before" and any(row.ratio for row in rows))
        or (name == "steps" and any(row.steps for row in rows))
        or (name == "environment" and len(places) > 1)
        for name, _ in _COLUMNS
    ]
    header = "".join(
        f'<th scope="col" data-kind="{kind}" data-name="{_key(name)}">{escape(name)}</th>'
        for (name, kind), is_told in zip(_COLUMNS, told, strict=True)
        if is_told
    )
    body = "".join(
        "<tr>" + "".join(cell for cell, is_told in zip(_cells(row), told, strict=True) if is_told) + "</tr>\n"
        for row in rows
    )
    return (
        f'<h2 id="cases">All cases ({counted(len(rows), "case")})</h2>'
        '<p id="finder" hidden><label for="search">Search</label> '
        '<input id="search" type="search" placeholder="words, such as: encoder warm" autocomplete="off" '
        'spellcheck="false"> <span id="count" role="status"></span></p>'
        '<div class="wide" id="case-list"><table id="case-table"><thead>'
        f"<tr>{header}</tr></thead><tbody>\n{body}</tbody></table></div>"
    )


def _key(name: str) -> str:
    return {"/ before": "ratio"}.get(name, name)


def _cells(row: CaseRow) -> list[str]:
    newest = row.newest
    quartiles, spread = "-", _LAST
    if newest is not None and newest.low is not None and newest.high is not None:
        quartiles = f"{_quantity(newest.low, newest.unit)} to {_quantity(newest.high, newest.unit)}"
        spread = (newest.high - newest.low) / abs(newest.value) if newest.value else _LAST
    absent = "not measured" if row.absence is None or row.absence.not_measured else row.absence.status
    value = absent if newest is None else _quantity(newest.value, newest.unit)
    steps = "-"
    if row.steps:
        last, commit = row.steps[-1]
        size = "" if last.ratio is None else f"{last.ratio:.2f} times "
        steps = f"{len(row.steps)}: {size}at {commit[:8]}"
    n = None if newest is None else newest.n
    return [
        f'<th scope="row">{escape(str(row.case))}</th>',
        _cell(f"<b>{row.verdict}</b>" if row.verdict else "-", "verdict", row.rank, _tone(row.verdict)),
        _cell(escape(value), "newest", _LAST if newest is None else newest.value),
        _cell("-" if row.ratio is None else f"{row.ratio:.3f}", "ratio", _LAST if row.ratio is None else row.ratio),
        _cell(quartiles, "quartiles", spread),
        _cell("-" if n is None else str(n), "n", _LAST if n is None else n),
        _cell(steps, "steps", len(row.steps)),
        _cell(str(row.commits), "commits", row.commits),
        f'<td class="environment">{escape(str(row.place))}</td>',
    ]


def _cell(html: str, column: str, value: float, tone: str = "") -> str:
    written = "Infinity" if math.isinf(value) else f"{value:.9g}"
    empty = " none" if html == "-" else ""
    return f'<td class="{column}{tone}{empty}" data-v="{written}">{html}</td>'


def _quantity(value: float, unit: str) -> str:
    return quantity(value, unit) if unit else digits(value)


def _tone(verdict: Verdict | None) -> str:
    if verdict in WORSE:
        return " worse"
    return " open" if verdict in UNKNOWN else ""
