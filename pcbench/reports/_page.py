"""A report as one HTML page that needs no network and no other file."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from pcbench.analysis.case_rows import CaseRow
from pcbench.analysis.quantities import counted
from pcbench.analysis.records import Context, Problem, Results, Run
from pcbench.analysis.series import by_place
from pcbench.reports import Table
from pcbench.reports._captions import ran_on
from pcbench.reports._page_cases import SCRIPT, cases_section
from pcbench.reports._page_style import STYLE

_NOTHING_LEAVES = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"

_UNFOLDED = 12
"""A longer table is folded."""

_HINT = '<p class="hint">\u2194 Swipe sideways to see all of it.</p>'


@dataclass(frozen=True)
class Section:
    """One report on the page.

    Attributes:
        name: The report's name; the figure's anchor.
        finding: The figure's title, for those who do not see it.
        png: The figure; None, with ``table`` None, where the results hold nothing that it shows.
        said: Sentences beside them.
    """

    name: str
    title: str
    finding: str = ""
    png: bytes | None = None
    table: Table | None = None
    said: tuple[str, ...] = ()


def page(sections: Sequence[Section], results: Results, cases: Sequence[CaseRow] = ()) -> str:
    """The whole page: what was measured, what could not be read, figures with their numbers, and what is missing.

    All cases come after the first section, in a table that can be searched and sorted.
    """
    named = [(section.name, section.title) for section in sections]
    links = [*named[:1], *([("cases", "All cases")] if cases else []), *named[1:], ("missing", "What has no number")]
    places = len(by_place(results.runs))
    nav = "".join(f'<a href="#{escape(anchor)}">{escape(text)}</a>' for anchor, text in links)
    parts = [
        f"<h1>pcbench: what persisted, compiled models cost</h1>{_measured(results.runs)}<nav>{nav}</nav>",
        _problems(results.problems),
        *(_section(section, places) for section in sections[:1]),
        cases_section(cases) if cases else "",
        *(_section(section, places) for section in sections[1:]),
        _missing(results.runs),
        f"<script>{SCRIPT}</script>" if cases else "",
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{_NOTHING_LEAVES}">'
        f'<link rel="icon" href="data:,"><title>pcbench report</title><style>{STYLE}</style></head>\n<body>\n'
        + "\n".join(part for part in parts if part)
        + "\n</body></html>\n"
    )


def _measured(runs: Sequence[Run]) -> str:
    rows = []
    for place, ordered in by_place(runs).items():
        newest = ordered[-1]
        row = (str(place), f"{len(ordered)}", newest.commit[:8], f"{newest.date:%Y-%m-%d}", ran_on(newest))
        rows.append((*row, *_context_cells(newest.context)))
    header = (
        *("environment", "commits", "newest", "committed", "newest ran on"),
        *("driver", "C++ compiler", "load when it began", "flags"),
    )
    told = [i for i in range(len(header)) if any(row[i] for row in rows)]
    return _table(Table(_some(header, told), tuple(_some(tuple(cell or "-" for cell in row), told) for row in rows)))


def _context_cells(context: Context | None) -> tuple[str | None, ...]:
    """What a sidecar says beside what the captions say; None or empty where it does not say."""
    if context is None:
        return (None, None, None, None)
    load = None if context.load_average is None else f"{context.load_average:.1f}"
    flags = ", ".join(f"{name}={value}" for name, value in sorted(context.flags.items()))
    return (context.driver, context.compiler, load, flags)


def _some(cells: tuple[str, ...], places: Sequence[int]) -> tuple[str, ...]:
    return tuple(cells[place] for place in places)


def _problems(problems: Sequence[Problem]) -> str:
    if not problems:
        return ""
    items = "".join(
        f"<li><code>{escape(_short(problem.path))}</code> {escape(problem.what)}</li>" for problem in problems
    )
    return f'<div class="problem"><p>Not read, and so not shown:</p><ul>{items}</ul></div>'


def _short(path: Path) -> str:
    return "/".join(path.parts[-2:])


def _section(section: Section, places: int) -> str:
    parts = [f'<h2 id="{escape(section.name)}">{escape(section.title)}</h2>']
    if section.png is not None:
        data = base64.b64encode(section.png).decode("ascii")
        alt = escape(section.finding, quote=True)
        parts.append(f'<p class="finding">{escape(section.finding)}.</p>')
        parts.append(f'{_HINT}<div class="wide"><img alt="{alt}" src="data:image/png;base64,{data}"></div>')
    parts += [f"<p>{escape(sentence)}</p>" for sentence in section.said]
    if section.table is not None:
        table = _table(_one_environment(section.table, places))
        unfolded = " open" if len(section.table.rows) <= _UNFOLDED else ""
        rows = counted(len(section.table.rows), "row")
        parts.append(f"<details{unfolded}><summary>The numbers ({rows})</summary>{table}</details>")
    if section.png is None and section.table is None and not section.said:
        parts.append("<p>The results hold nothing that this report shows.</p>")
    return "\n".join(parts)


def _missing(runs: Sequence[Run]) -> str:
    """The cases without a number at each place's newest commit, and the benchmarks that were left out."""
    rows, said = [], []
    places = by_place(runs)
    for place, ordered in places.items():
        newest = ordered[-1]
        absences = sorted(newest.absences.items(), key=lambda item: str(item[0]))
        unmeasured = sum(absence.not_measured for _, absence in absences)
        if unmeasured:
            where = f" ({place})" if len(places) > 1 else ""
            were = "was" if unmeasured == 1 else "were"
            said.append(f"<p>{counted(unmeasured, 'case')} {were} not measured in this run{escape(where)}.</p>")
        listed = [(case, absence) for case, absence in absences if not absence.not_measured]
        rows += [(str(case), a.status, a.reason or "no reason recorded", str(place)) for case, a in listed]
        rows += [(name, "left out", reason, str(place)) for name, reason in sorted(newest.left_out.items())]
    head = '<h2 id="missing">What has no number, newest commit</h2>' + "".join(said)
    if not rows:
        return head if said else f"{head}<p>Every case has one.</p>"
    return head + _table(_one_environment(Table(("case", "status", "reason", "environment"), tuple(rows)), len(places)))


def _one_environment(table: Table, places: int) -> Table:
    """The table without its last column, the environment, where there is only one."""
    if places > 1 or table.header[-1] != "environment":
        return table
    return Table(table.header[:-1], tuple(row[:-1] for row in table.rows))


def _table(table: Table) -> str:
    header = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in table.header)
    rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>\n" for row in table.rows)
    hint = _HINT if len(table.header) > 2 else ""
    return f'{hint}<div class="wide"><table><thead><tr>{header}</tr></thead><tbody>{rows}</tbody></table></div>'
