"""What guards are and what they cost: their census, seconds, the slope of each guard family, instructions."""

from __future__ import annotations

from benchmarks import suite

ENTRIES = [
    "guards",
    "guards in Python",
    "relational guards",
    "epilogue guards",
    "managers",
    "accessors",
    "depth",
    "code bytes",
]

MEASURES = [
    "check",
    "cold check",
    "hit",
    "hit - direct",
    "hit - guards skipped",
    "loaded: check",
    "loaded: call - unchecked call",
]


class Census:
    """Entries of the census of a model's guards: exact, so that any change is one; the sidecar has all of it."""

    version = "1"
    timeout = 3600
    param_names = ("model", "entry")
    params = (suite.MODELS, ENTRIES)

    def setup(self, *case):
        suite.require_commit(*case)
        suite.require("guard_count", *case)

    def track_count(self, model, entry):
        return suite.tracking.guard_count(model, entry)

    track_count.unit = ""


Census.track_count.worse = "any"


class Cost:
    """Seconds per call; a difference is the median of one process's pairs, all else the least of its blocks."""

    version = "1"
    timeout = 3600
    param_names = ("model", "measure")
    params = (suite.MODELS, MEASURES)

    def setup(self, *case):
        suite.require_commit(*case)
        suite.require("guard_seconds", *case)

    def track_seconds(self, model, measure):
        return suite.tracking.guard_seconds(model, measure, suite.GUARD_PROCESSES)

    track_seconds.unit = "seconds"


class Slope:
    """Seconds that a check takes per guard and per item of a family, and with none of them (intercept)."""

    version = "1"
    timeout = 7200
    param_names = ("family", "part")
    params = (suite.FAMILIES, ["per guard", "intercept", "per item"])

    def setup(self, *case):
        suite.require_commit(*case)
        suite.require("guard_slope_seconds", *case)

    def track_seconds(self, family, part):
        return suite.tracking.guard_slope_seconds(family, part, suite.FAMILY_SIZES, suite.GUARD_PROCESSES)

    track_seconds.unit = "seconds"


class Instructions:
    """Instructions per check; a family's size is in its target's name. For the full profile: valgrind takes minutes.

    The quick profile has the class, too: asv describes in one file what any profile measures, and forgets the results
    of a class that the last run had not.
    """

    version = "1"
    timeout = 14400
    param_names = ("target",)
    params = (suite.COUNTED,)

    def setup(self, *case):
        suite.require_commit(*case)
        suite.require("guard_instructions", *case)
        suite.require_profile("full", *case)

    def track_count(self, target):
        return suite.tracking.guard_instructions(target, suite.COUNTED)

    track_count.unit = "instructions"


Instructions.track_count.worse = "up"
