"""A capture or save that is killed leaves a whole artifact or none, and the next save removes what it left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import killed_saves
import pytest

pytestmark = pytest.mark.slow

SEED, KILLS = 0, 25


@pytest.mark.parametrize("strategy", ["precompile_eager", "export"])
def test_what_a_kill_leaves_is_a_whole_artifact_or_none_and_the_next_save_cleans_up(
    strategy: str, tmp_path: Path
) -> None:
    command = [sys.executable, "-W", "ignore", killed_saves.__file__, strategy, str(tmp_path), str(SEED), str(KILLS)]
    env = os.environ | {"OMP_NUM_THREADS": "1"}
    ended = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=True)
    kills = [json.loads(line) for line in ended.stdout.splitlines()]

    assert len(kills) == KILLS
    assert {kill["left"] for kill in kills} == {"works", "none"}
    assert [kill for kill in kills if kill["then"] != ["model"]] == []
