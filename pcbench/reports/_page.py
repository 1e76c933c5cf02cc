"""A report as one HTML page that needs no network and no other file."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from pcbench.analysis.quantities import counted
from pcbench.analysis.records import Context, Problem, Results, Run
from pcbench.analysis.series import by_place
from pcbench.reports import Table
from pcbench.reports._captions import ran_on

_STYLE = """
body { margin: 0 auto; max-width: 66rem; padding: 1rem; color: #222; background: #fff;
       font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; border-top: 1px solid #ddd; padding-top: 1rem; }
nav { margin: 1rem 0; } nav a { margin-right: 1rem; } a { color: #0072b2; }
.wide { overflow-x: auto; }
.wide img { display: block; width: 100%; min-width: 40rem; max-width: 62rem; height: auto; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
td { min-width: 5.5rem; }
th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid #eee; vertical-align: top; }
th { border-bottom: 2px solid #767676; white-space: nowrap; }
summary { cursor: pointer; margin: .8rem 0; }
code { overflow-wrap: anywhere; }
th:first-child, td:first-child { position: sticky; left: 0; background: #fff; }
.finding, .hint { display: none; }
.hint { margin: .2rem 0; font-size: .85rem; color: #555; }
@media (max-width: 45rem) {
  .finding, .hint { display: block; }
  th:first-child, td:first-child { min-width: 9rem; max-width: 45vw; overflow-wrap: anywhere; white-space: normal; }
}
.problem { border-left: 4px solid #d55e00; padding: .1rem 1rem; background: #fdf3ec; }
"""

_HINT = '<p class="hint">\u2194 Swipe sideways to see all of it.</p>'


@dataclass(frozen=True)
class Section:
    """One report on the page.

    Attributes:
        name: The report's name; the figure's anchor.
        finding: The figure's title, for those who do not see it.
        png: The figure; None, with ``table`` None, where the results hold nothing that it shows.
    """

    name: str
    title: str
    finding: str = ""
    png: bytes | None = None
    table: Table | None = None


def page(sections: Sequence[Section], results: Results) -> str:
    """The whole page: what was measured, what could not be read, figures with their numbers, and what is missing."""
    links = [(section.name, section.title) for section in sections] + [("missing", "What has no number")]
    places = len(by_place(results.runs))
    nav = "".join(f'<a href="#{escape(anchor)}">{escape(text)}</a>' for anchor, text in links)
    parts = [
        f"<h1>pcbench: what persisted, compiled models cost</h1>{_measured(results.runs)}<nav>{nav}</nav>",
        _problems(results.problems),
        *(_section(section, places) for section in sections),
        _missing(results.runs),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="icon" href="data:,"><title>pcbench report</title><style>{_STYLE}</style></head>\n<body>\n'
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
    if section.table is not None:
        parts.append(
            f"<details><summary>The numbers</summary>{_table(_one_environment(section.table, places))}</details>"
        )
    if section.png is None and section.table is None:
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
    header = "".join(f"<th>{escape(cell)}</th>" for cell in table.header)
    rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>\n" for row in table.rows)
    hint = _HINT if len(table.header) > 2 else ""
    return f'{hint}<div class="wide"><table><thead><tr>{header}</tr></thead><tbody>{rows}</tbody></table></div>'
