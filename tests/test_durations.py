"""How long each benchmark of a result took."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pcbench.analysis.durations import durations
from pcbench.errors import ResultsError


def test_durations_are_those_of_the_rows_that_have_one(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    rows = {"a": [1.0, None, 2.5], "b": [float("nan")], "c": [None, None, None]}
    path.write_text(json.dumps({"result_columns": ["result", "params", "duration"], "results": rows}))
    assert durations(path) == {"a": 2.5}


def test_a_result_without_the_column_tells_none(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_text(json.dumps({"result_columns": ["result"], "results": {"a": [1.0]}}))
    assert durations(path) == {}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"result_columns": ["duration"], "results": 3}'])
def test_what_is_no_result_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "result.json"
    path.write_text(text)
    with pytest.raises(ResultsError):
        durations(path)
