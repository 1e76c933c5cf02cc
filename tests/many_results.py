"""A results folder as large as years of nights make it, for measuring the commands that read one.

    python tests/many_results.py FOLDER [COMMITS [CASES]]

makes a git repository of empty commits with asv.conf.json and results/: a file and a sidecar per commit. ``pcbench
report --results FOLDER/results`` and ``asv publish`` in FOLDER then read the same.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

MODELS, STRATEGIES = 5, 8
SAMPLES = 5
ENVIRONMENT = "shared-py3.11-torch2.15.0"
DAY_MS = 86_400_000
FIRST_MS = 1_700_000_000_000

COLUMNS = [
    *("result", "params", "version", "started_at", "duration", "stats_ci_99_a", "stats_ci_99_b"),
    *("stats_q_25", "stats_q_75", "stats_number", "stats_repeat", "samples"),
]
PARAMS = [[repr(f"model{i}") for i in range(MODELS)], [repr(f"strategy{i}") for i in range(STRATEGIES)]]
CELLS = MODELS * STRATEGIES


def write_results(folder: Path, commits: list[str], cases: int = 2000, seed: int = 7) -> None:
    """asv's files, version 2, with sidecars: every other benchmark is a timing, with a step in a tenth of its cases.

    Args:
        commits: Whole hashes, oldest first.
        cases: How many, in full benchmarks of 40.
    """
    draws = np.random.default_rng(seed)
    names = [f"bench_made.Made{i:03d}.track_seconds" for i in range(-(-cases // CELLS))]
    machine = folder / "scale"
    machine.mkdir(parents=True)
    suite = {
        name: {"name": name, "param_names": ["model", "strategy"], "params": PARAMS, "version": "1", "type": "track"}
        | {"unit": "" if place % 2 else "seconds", "code": "", "timeout": 60.0, "pretty_name": name}
        for place, name in enumerate(names)
    }
    (folder / "benchmarks.json").write_text(json.dumps({"version": 2, **suite}))
    (machine / "machine.json").write_text(json.dumps({"machine": "scale", "cpu": "a processor", "version": 1}))
    level = np.exp(draws.normal(-4, 2, (len(names), CELLS)))
    step_at = draws.integers(0, 10 * len(commits), (len(names), CELLS))
    for night, commit in enumerate(commits):
        values = level * np.where(night >= step_at, 1.1, 1.0) * np.exp(0.01 * draws.standard_t(4, level.shape))
        (machine / f"{commit[:8]}-{ENVIRONMENT}.json").write_text(
            json.dumps(
                {
                    "commit_hash": commit,
                    "env_name": ENVIRONMENT,
                    "date": FIRST_MS + night * DAY_MS,
                    "params": {"machine": "scale", "cpu": "a processor", "python": "3.11", "torch": "2.15.0"},
                    "python": "3.11",
                    "requirements": {"torch": "2.15.0"},
                    "env_vars": {},
                    "result_columns": COLUMNS,
                    "results": {
                        name: _row(values[place] if place % 2 == 0 else np.round(1e3 * level[place]), place, draws)
                        for place, name in enumerate(names)
                    },
                    "durations": {},
                    "version": 2,
                }
            )
        )
        head = {"schema": 1, "commit": commit, "environment": ENVIRONMENT, "torch": "2.15.0", "threads": 2}
        absences = [
            {"case": f"bench_gone.Gone.track({number})", "status": "UNAVAILABLE", "reason": "made up"}
            for number in range(3)
        ]
        lines = [json.dumps(line) + "\n" for line in (head, *absences)]
        (machine / f"{commit[:8]}-{ENVIRONMENT}.context").write_text("".join(lines))


def _row(values: np.ndarray, place: int, draws: np.random.Generator) -> list[object]:
    if place % 2:
        return [values.tolist(), PARAMS, "1", FIRST_MS, 3.2]
    samples = values[:, None] * np.exp(0.01 * draws.standard_normal((len(values), SAMPLES)))
    q25, middle, q75 = (column.tolist() for column in np.quantile(samples, (0.25, 0.5, 0.75), axis=1))
    one = [1] * len(values)
    repeat = [SAMPLES] * len(values)
    return [middle, PARAMS, "1", FIRST_MS, 3.2, q25, q75, q25, q75, one, repeat, samples.tolist()]


def write_repository(folder: Path, commits: int) -> list[str]:
    """A repository of so many empty commits; their hashes, oldest first."""
    subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True)
    stream = "".join(
        f"commit refs/heads/main\ncommitter t <t@t> {(FIRST_MS + night * DAY_MS) // 1000} +0000\ndata 1\n.\n"
        for night in range(commits)
    )
    subprocess.run(["git", "fast-import", "--quiet"], cwd=folder, input=stream, text=True, check=True)
    listed = ["git", "log", "--reverse", "--format=%H", "main"]
    return subprocess.run(listed, cwd=folder, capture_output=True, text=True, check=True).stdout.split()


def main(folder: Path, commits: int = 500, cases: int = 2000) -> None:
    folder.mkdir(parents=True)
    conf = {"version": 1, "project": "made", "repo": ".", "branches": ["main"], "environment_type": "existing"}
    (folder / "asv.conf.json").write_text(json.dumps(conf | {"results_dir": "results", "html_dir": "html"}))
    write_results(folder / "results", write_repository(folder, commits), cases)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
