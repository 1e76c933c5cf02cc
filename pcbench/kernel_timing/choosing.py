"""Which configuration each launch that Triton tunes was given, in the words of a row of codegen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from triton.runtime.autotuner import Autotuner

from pcbench.codegen.recording import Launch, config_of

_OF_THE_LAUNCH = ("grid", "warmup")


@contextmanager
def recorded() -> Iterator[list[str]]:
    """Within it, what launches choose is added to the list, in order."""
    found: list[str] = []
    run = Autotuner.run

    def recording(self: Any, *args: Any, **kwargs: Any) -> Any:
        given = run(self, *args, **kwargs)
        shared = {name: value for name, value in kwargs.items() if name not in _OF_THE_LAUNCH}
        found.append(config_of(Launch(self.fn, args, shared | self.best_config.all_kwargs())))
        return given

    Autotuner.run = recording
    try:
        yield found
    finally:
        Autotuner.run = run
