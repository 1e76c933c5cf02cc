"""Small results folders of asv's format, with sidecars, written for a test."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ENVIRONMENT = "shared-py3.11-torch2.15.0"

SUITE = {
    "guards.Census.track_count": {"unit": "", "worse": "any", "param_names": ["model", "entry"], "type": "track"},
    "capture.track_breaks": {"unit": "", "worse": "up", "param_names": [], "type": "track"},
    "capture.track_hits": {"unit": "", "worse": "down", "param_names": [], "type": "track"},
    "load.track_bytes": {"unit": "bytes", "param_names": [], "type": "track"},
    "load.track_peak": {"unit": "bytes", "kind": "memory", "param_names": [], "type": "track"},
    "guards.track_instructions": {"unit": "instructions", "worse": "up", "param_names": [], "type": "track"},
    "load.track_first": {"unit": "seconds", "param_names": ["model"], "type": "track"},
    "call.time_call": {"unit": "seconds", "param_names": ["size"], "type": "time"},
}
"""Name to what benchmarks.json says of it; every benchmark has version 1."""


@dataclass(frozen=True)
class Folder:
    """A results folder below ``root``."""

    root: Path
    suite: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: SUITE)

    def begin(self, machine: str = "lab", **facts: str) -> None:
        """Describe the suite and a machine."""
        known = {
            name: {"name": name, "version": "1", "params": [], **fields, "code": ""}
            for name, fields in self.suite.items()
        }
        self._write(self.root / "benchmarks.json", {**known, "version": 2})
        told = {"machine": machine, "cpu": "a processor", "num_cpu": "2", "arch": "x86_64", **facts}
        self._write(self.root / machine / "machine.json", {**told, "version": 1})

    def add(
        self,
        number: int,
        cases: Mapping[str, Any],
        *,
        machine: str = "lab",
        environment: str = ENVIRONMENT,
        versions: Mapping[str, str] | None = None,
        sidecar: Sequence[Mapping[str, Any]] | None = (),
        params: Mapping[str, str] | None = None,
        **context: Any,
    ) -> Path:
        """A result of commit ``number``; a value is a number, a list of samples, None (failed) or nan (n/a).

        Args:
            cases: By case id: the benchmark's name, with its parameters in brackets.
            params: What asv's own parameters say of the machine.
            sidecar: Its lines after the first; None for a result without one.
            context: What the sidecar's first line says beside the usual.
        """
        commit = commit_of(number)
        columns = ["result", "params", "version", "stats_q_25", "stats_q_75", "stats_repeat", "samples"]
        rows: dict[str, list[Any]] = {}
        for name in dict.fromkeys(case.partition("(")[0] for case in cases):
            named = {case: value for case, value in cases.items() if case.partition("(")[0] == name}
            rows[name] = self._row(named, (versions or {}).get(name, "1"))
        told = {
            "commit_hash": commit,
            "env_name": environment,
            "date": 1_790_000_000_000 + number * 86_400_000,
            "params": {"machine": machine, "cpu": "a processor", **(params or {})},
            "requirements": {"torch": context.get("torch", "2.15.0")},
            "result_columns": columns,
            "results": rows,
            "version": 2,
        }
        path = self.root / machine / f"{commit[:8]}-{environment}.json"
        self._write(path, told)
        if sidecar is not None:
            head = {
                "schema": 1,
                "commit": commit,
                "environment": environment,
                "torch": "2.15.0",
                "threads": 2,
                **context,
            }
            path.with_suffix(".context").write_text("".join(json.dumps(line) + "\n" for line in (head, *sidecar)))
        return path

    def _row(self, named: Mapping[str, Any], version: str) -> list[Any]:
        params = [case.partition("(")[2].removesuffix(")").split(", ") for case in named]
        lists: list[list[str]] = [] if params == [[""]] else [[repr(p[0]) for p in params]]
        if params and len(params[0]) > 1:
            assert len(params) == 1, "a case of several parameters comes alone in its benchmark"
            lists = [[repr(value)] for value in params[0]]
        values = list(named.values())
        samples = [value if isinstance(value, list) else None for value in values]
        middle = [sorted(value)[len(value) // 2] if isinstance(value, list) else value for value in values]
        low = [None if s is None else min(s) for s in samples]
        high = [None if s is None else max(s) for s in samples]
        counts = [None if s is None else len(s) for s in samples]
        return [middle, lists, version, low, high, counts, samples]

    @staticmethod
    def _write(path: Path, content: Mapping[str, Any]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))


def commit_of(number: int) -> str:
    """The hash of commit ``number``."""
    return f"{number:08x}" + "0" * 32
