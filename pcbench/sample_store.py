"""Captures and load samples of one model and strategy, taken once and shared by the benchmarks that need them.

The folder is PCBENCH_STORE's, which asv's environment makes anew for each run and commit. What failed is kept, too: a
strategy that hangs costs its limit once.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pcbench import processes, sampling
from pcbench.asking import Setting
from pcbench.samples import EAGER, Capture, LoadSample, Outcome, Phases, read_capture
from pcbench.status import Status

_FIRST_COUNTED = "first-capture-counted"


@dataclass(frozen=True)
class SampleCounts:
    """How many processes give the samples of a case; a warm one gives the hot sample, too."""

    cold: int = 5
    warm: int = 7


class Absent(Exception):
    """A case has no number, for the reason given; :mod:`pcbench.tracked` turns it into what asv takes."""

    def __init__(self, status: str, reason: str | None) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


@dataclass(frozen=True)
class Store:
    """A folder with what was taken of one model and strategy."""

    folder: Path
    setting: Setting
    strategy: str

    def captured(self) -> Capture:
        """The capture whose artifact is loaded; taken, from empty caches, where there is none yet.

        Raises:
            Absent: It failed.
        """
        record = self._file("captured")
        if record.is_file():
            return _good(read_capture(json.loads(record.read_text())))
        capture = sampling.capture(self.setting, self.strategy, self.folder / "captured")
        record.write_text(json.dumps(asdict(capture)))
        return _good(capture)

    def captures(self, temperature: str, counts: SampleCounts, use: str = "seconds") -> list[Capture]:
        """The captures of a temperature: those taken for another use and not yet used for this one, else new ones.

        The first one is the first cold one, and counts once.

        Raises:
            Absent: One of them failed.
        """
        count = counts.warm if temperature == "warm" else counts.cold
        taken = self._shared(f"captures-{temperature}", use, lambda: self._captures(temperature, count))
        return [_good(read_capture(stored)) for stored in taken]

    def _shared(self, record: str, use: str, take: Callable[[], dict[str, list[Any]]]) -> list[dict[str, Any]]:
        """What is on record, as it was written; ``take`` gives it, and maybe others, anew when this use has had it."""
        file = self._file(record)
        if not file.is_file() or use in json.loads(file.read_text())["used"]:
            for each, taken in take().items():
                self._file(each).write_text(json.dumps({"used": [], "taken": [asdict(one) for one in taken]}))
        known = json.loads(file.read_text())
        known["used"].append(use)
        file.write_text(json.dumps(known))
        found: list[dict[str, Any]] = known["taken"]
        return found

    def _file(self, record: str) -> Path:
        return self.folder / f"{record}.json"

    def _captures(self, temperature: str, count: int) -> dict[str, list[Capture]]:
        """New captures, until one fails."""
        first = self.captured()
        found: list[Capture] = []
        counted = self.folder / _FIRST_COUNTED
        if temperature == "cold" and not counted.exists():
            counted.touch()
            found.append(first)
        while len(found) < count and all(capture.status is Status.OK for capture in found):
            found.append(self._capture_again(warm=temperature == "warm"))
        return {f"captures-{temperature}": found}

    def _capture_again(self, *, warm: bool) -> Capture:
        """One more capture, whose artifact is thrown away; from the first one's caches, or from empty ones."""
        caches = self.folder / "captured" if warm else None
        with processes.scratch(self.folder) as aside:
            return sampling.capture(self.setting, self.strategy, aside / "again", warm_from=caches)

    def loads(self, temperature: str, use: str, counts: SampleCounts) -> list[LoadSample]:
        """The samples of a temperature: those taken for another use and not yet used for this one, else new ones.

        Raises:
            Absent: A load of this temperature failed, or the capture before it.
        """
        together = ("cold",) if temperature == "cold" else ("warm", "hot")
        taken = self._shared(f"loads-{temperature}", use, lambda: self._load(together, counts))
        found = [_from_json(outcome) for outcome in taken]
        for outcome in found:
            if outcome.status is not Status.OK:
                raise Absent(outcome.status, outcome.reason)
        return [sample for outcome in found for sample in outcome.samples]

    def _load(self, temperatures: tuple[str, ...], counts: SampleCounts) -> dict[str, list[Outcome]]:
        """Load in fresh processes, each temperature until it fails."""
        captured = None
        if self.strategy != EAGER:
            self.captured()
            captured = self.folder / "captured"
        found: dict[str, list[Outcome]] = {each: [] for each in temperatures}
        first, asked = temperatures[0], temperatures
        for _ in range(counts.cold if first == "cold" else counts.warm):
            outcome = sampling.load(self.setting, self.strategy, captured, first, hot="hot" in asked)
            for each in asked:
                found[each].append(_of(outcome, each))
            asked = tuple(each for each in asked if found[each][-1].samples)
            if first not in asked:
                break
        return {f"loads-{each}": outcomes for each, outcomes in found.items()}


@contextmanager
def opened(setting: Setting, strategy: str) -> Iterator[Store]:
    """The store of a model and strategy; one of this process alone where asv's environment gave no folder."""
    shared = os.environ.get("PCBENCH_STORE")
    if shared:
        folder = Path(shared) / re.sub(r"[^\w.-]", "_", setting.target) / strategy
        folder.mkdir(parents=True, exist_ok=True)
        yield Store(folder, setting, strategy)
    else:
        with processes.scratch() as folder:
            yield Store(folder, setting, strategy)


def _good(capture: Capture) -> Capture:
    if capture.status is not Status.OK:
        raise Absent(capture.status, capture.reason)
    return capture


def _of(outcome: Outcome, temperature: str) -> Outcome:
    """The outcome of one temperature alone: what failed after its own samples is no fault of theirs."""
    own = tuple(sample for sample in outcome.samples if sample.temperature == temperature)
    if not own:
        return Outcome(outcome.status, outcome.reason)
    status = next((sample.status for sample in own if sample.status is not Status.OK), Status.OK)
    return Outcome(status, outcome.reason if status is outcome.status else None, own)


def _from_json(stored: dict[str, Any]) -> Outcome:
    samples = (s | {"phases": Phases(**s["phases"]), "status": Status(s["status"])} for s in stored["samples"])
    return Outcome(Status(stored["status"]), stored["reason"], tuple(LoadSample(**sample) for sample in samples))
