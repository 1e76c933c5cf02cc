"""How long each benchmark of a result took, as asv wrote it."""

from __future__ import annotations

from pathlib import Path

from pcbench.analysis.parsing import expect, load_json, read_text


def durations(path: Path) -> dict[str, float]:
    """Seconds by benchmark, with all its parameters and rounds; those without a duration are left out.

    Raises:
        ResultsError: The file cannot be read.
    """
    raw = expect(load_json(read_text(path)), dict, "it")
    columns = expect(raw.get("result_columns"), list, "result_columns")
    if "duration" not in columns:
        return {}
    at = columns.index("duration")
    found = {}
    for name, row in expect(raw.get("results"), dict, "results").items():
        cells = expect(row, list, name)
        if len(cells) > at and isinstance(cells[at], int | float):
            found[str(name)] = float(cells[at])
    return found
