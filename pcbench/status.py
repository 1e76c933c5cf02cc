"""The outcome of one measurement. None of these but OK means that a number counts."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """What became of one strategy at one temperature."""

    OK = "OK"
    """Loaded, gave eager's answer, compiled nothing that it had a cache for."""
    UNAVAILABLE = "UNAVAILABLE"
    """The strategy's probe tried and failed here; the reason says why."""
    CAPTURE_FAILED = "CAPTURE_FAILED"
    """Capturing the model raised, or changed it."""
    COMPILE_FAILED = "COMPILE_FAILED"
    """The compiler refused the kernel."""
    SAVE_FAILED = "SAVE_FAILED"
    """The captured model could not be written to a folder."""
    LOAD_FAILED = "LOAD_FAILED"
    """A fresh process could not load the artifact."""
    GUARD_FAILED = "GUARD_FAILED"
    """The loaded artifact refused the inputs that it was captured with."""
    WRONG_RESULT = "WRONG_RESULT"
    """The loaded artifact's answer is not eager's."""
    DEGRADED_TO_JIT = "DEGRADED_TO_JIT"
    """The load compiled again although it had been given the capture's caches."""
    CRASHED = "CRASHED"
    """The process ended by a signal or without an answer."""
    TIMED_OUT = "TIMED_OUT"
    """The process ran past its limit and was killed."""
