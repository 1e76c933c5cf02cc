"""What can go wrong, said so that a person can act on it. Only ``main()`` turns these into exits."""

from __future__ import annotations


class PcbenchError(Exception):
    """Something that was asked for could not be done.

    Attributes:
        problem: One sentence: what is wrong, and with which thing.
        hint: What to do about it, or None.
        exit_code: The process's exit code when this error ends a command.
    """

    exit_code = 2

    def __init__(self, problem: str, *, hint: str | None = None) -> None:
        super().__init__(problem if hint is None else f"{problem} ({hint})")
        self.problem = problem
        self.hint = hint


class UsageError(PcbenchError):
    """A command was called with words or files that it cannot use."""


class UnavailableError(PcbenchError):
    """This installation cannot do it; the reason says what it lacks."""


class ArtifactError(PcbenchError):
    """An artifact is damaged, not to be trusted, or was made for something other than this process.

    Attributes:
        layer: Which check refused it, one of :data:`pcbench.vetting.LAYERS`; empty where none did.
    """

    def __init__(self, problem: str, *, hint: str | None = None, layer: str = "") -> None:
        super().__init__(problem, hint=hint)
        self.layer = layer


class ExtensionError(PcbenchError):
    """A model, strategy, kernel, report or command file does not end as it must."""


class ResultsError(PcbenchError):
    """A results folder or a file in it cannot be read."""


class ModelDiedError(PcbenchError):
    """A runner was called after the model that holds its weights had been freed."""


class RunnerError(PcbenchError):
    """A strategy could not make a runner of a model; the message names both, and carries what was raised."""
