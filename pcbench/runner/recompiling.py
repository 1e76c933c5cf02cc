"""Whether something was compiled again that the caches already hold."""

from __future__ import annotations

from dataclasses import dataclass, field

from pcbench import timing, torch_api


@dataclass
class Watch:
    """What Dynamo, Inductor and the compilers have done in this process since the watch was made.

    Attributes:
        clock: Its phases are those in which compilers are seen.
    """

    clock: timing.PhaseClock = field(default_factory=timing.PhaseClock)
    _frames: int = field(default_factory=torch_api.frames_compiled)
    _misses: int = field(default_factory=torch_api.cache_misses)

    @property
    def recompiles(self) -> int:
        """Frames that Dynamo has traced since."""
        return torch_api.frames_compiled() - self._frames

    def compiled(self, *, retraces: bool = False) -> bool:
        """Whether a compiler built something, or Dynamo traced a frame.

        Args:
            retraces: Tracing is expected; that what it traced was in no cache is not.
        """
        again = torch_api.cache_misses() - self._misses if retraces else self.recompiles
        return self.clock.builds > 0 or again > 0
