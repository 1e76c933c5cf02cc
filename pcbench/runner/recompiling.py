"""Whether something was compiled again that the caches already hold."""

from __future__ import annotations

from dataclasses import dataclass, field

from pcbench import timing, torch_api


@dataclass
class CompileWatch:
    """What Dynamo, Inductor and the compilers have done in this process since the watch was made.

    Attributes:
        clock: Its phases are those in which compilers are seen.
    """

    clock: timing.PhaseClock = field(default_factory=timing.PhaseClock)
    _frames: int = field(default_factory=torch_api.frames_compiled)
    _misses: int = field(default_factory=torch_api.cache_misses)

    @property
    def recompiles(self) -> int:
        """Frames that Dynamo has traced since.

        Raises:
            UnavailableError: This torch does not count them under the name that pcbench knows.
        """
        torch_api.require_counters("frames")
        return torch_api.frames_compiled() - self._frames

    def compiled(self, *, retraces: bool = False) -> str | None:
        """What was compiled, in words: something that a compiler built, or a frame that Dynamo traced; None if nothing.

        Args:
            retraces: Tracing is expected; that what it traced was in no cache is not.

        Raises:
            UnavailableError: This torch does not count what would tell.
        """
        if self.clock.builds > 0:
            return f"compilers built something {self.clock.builds} times"
        again = self._misses_since() if retraces else self.recompiles
        if again > 0:
            return f"graphs were in no cache: {again}" if retraces else f"Dynamo traced frames: {again}"
        return None

    def _misses_since(self) -> int:
        torch_api.require_counters("fxgraph", "aot_autograd")
        return torch_api.cache_misses() - self._misses
