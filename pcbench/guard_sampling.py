"""Ask fresh processes about the guards of a target. For the command and asv's benchmarks; needs no torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pcbench import asking
from pcbench.asking import Setting
from pcbench.guard_causes import Remedies, Subtrees, read_remedy, read_subtrees
from pcbench.guard_samples import Census, Cost, Counted, Place, Sweep, read_census, read_cost, read_sweep

SIZES = (1, 8, 64, 512)
"""Sizes over which a family is swept."""

COUNTED_SIZES = (8, 64)
"""Sizes at which a family's instructions are counted: two make a slope, and compiling takes long under valgrind."""

CENSUS_SIZE = 8
_TO = {
    "guard_census": "count guards",
    "guard_cost": "time guards",
    "guard_sweep": "time a family of guards",
    "guard_subtrees": "time parts of the guards",
    "guard_remedies": "compile with other guards",
}

_HASH_SEEDS = ("0", "1")


def census(setting: Setting, size: int = CENSUS_SIZE, step: Callable[[str], None] = lambda what: None) -> Counted:
    """The census of the setting's target.

    Raises:
        UsageError, UnavailableError, PcbenchError: As :func:`pcbench.asking.ask`.
    """
    told = []
    for seed in _HASH_SEEDS:
        step(f"census, hash seed {seed}")
        told.append(_asked(_seeded(setting, seed), "guard_census", size=size))
    first, second = (read_census(message["census"]) for message in told)
    return Counted(first, told[0]["torch"], told[0]["torch_git"], _differing(first, second))


def cost(setting: Setting) -> Cost:
    """What the guards of the setting's target cost, in one process."""
    return read_cost(_asked(setting, "guard_cost")["cost"])


def sweep(setting: Setting, sizes: Sequence[int] = SIZES) -> Sweep:
    """The family that is the setting's target over sizes, in one process."""
    return read_sweep(_asked(setting, "guard_sweep", sizes=list(sizes))["sweep"])


def subtrees(setting: Setting) -> Subtrees:
    """Where the time of a check of the setting's target goes, in one process."""
    return read_subtrees(_asked(setting, "guard_subtrees")["subtrees"])


def remedies(setting: Setting) -> Remedies:
    """What would spare the setting's target guards, in one process."""
    messages = asking.ask(setting, {"do": "guard_remedies"}, _TO["guard_remedies"])
    last = next(message["remedies"] for message in messages if "remedies" in message)
    return Remedies(
        default=next(read_census(message["default"]) for message in messages if "default" in message),
        remedies=tuple(read_remedy(message["remedy"]) for message in messages if "remedy" in message),
        unchanged=tuple(last["unchanged"]),
    )


def _asked(setting: Setting, do: str, **more: Any) -> Mapping[str, Any]:
    """The message that answers: the one with what was asked for."""
    key = do.removeprefix("guard_")
    messages = asking.ask(setting, {"do": do, **more}, _TO[do])
    return next(message for message in messages if key in message)


def _seeded(setting: Setting, seed: str) -> Setting:
    return replace(setting, env={**setting.env, "PYTHONHASHSEED": seed})


def _differing(first: Census, second: Census) -> dict[str, tuple[str, str]]:
    found = {
        entry: (str(first.counts.get(entry, 0)), str(second.counts.get(entry, 0)))
        for entry in sorted({*first.counts, *second.counts})
        if first.counts.get(entry, 0) != second.counts.get(entry, 0)
    }
    for source in sorted({*first.places, *second.places}):
        places = (first.places.get(source), second.places.get(source))
        if places[0] != places[1]:
            found[source] = (_words(places[0]), _words(places[1]))
    return found


def _words(place: Place | None) -> str:
    return "nothing" if place is None else ", ".join((*place.guards, *place.answers)) or "no guard"
