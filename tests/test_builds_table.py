"""Comparisons of several builds as a table."""

from __future__ import annotations

import examples

from pcbench.analysis.builds_table import build_lines


def test_each_build_has_a_column_and_what_does_not_count_has_its_status_and_reason_once() -> None:
    old = examples.comparison(
        examples.row("eager", [2.0, 2.1]),
        examples.crashed("export"),
        examples.row("eager", [1.0], temperature="warm"),
        examples.crashed("export", "warm"),
    )
    new = examples.comparison(examples.row("eager", [3.0, 3.5]), examples.row("export", [4.0]))

    assert build_lines({"old": old, "new": new}) == [
        "cold: a fresh process with empty compiler caches",
        "strategy  old                   new",
        "eager     2.05 s (2-2.10, n=2)  3.25 s (3-3.50, n=2)",
        "export    CRASHED               4 s (n=1)",
        "warm: a fresh process with the caches that the capture left",
        "strategy  old        new",
        "eager     1 s (n=1)  -",
        "export    CRASHED    -",
        "export on old: CRASHED: at load: ended by SIGSEGV",
    ]
