"""Which saved strategy loads fastest, said no more surely than the samples allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pcbench.analysis.quantities import counted, listed, seconds
from pcbench.samples import EAGER, TEMPERATURES

_ENOUGH = 2


@dataclass(frozen=True)
class Start:
    """One strategy's time to the first output at one temperature: the median, and the ends of its range."""

    strategy: str
    median_s: float
    low_s: float
    high_s: float
    n: int

    def overlaps(self, other: Start) -> bool:
        return self.low_s <= other.high_s and other.low_s <= self.high_s


@dataclass(frozen=True)
class Standing:
    """The starts that a title speaks of.

    Attributes:
        eager: None where it was not measured at that temperature.
        saved: The strategies that loaded there, fastest median first; at least one.
    """

    temperature: str
    eager: Start | None
    saved: tuple[Start, ...]

    @property
    def judged(self) -> bool:
        """Whether every row has the samples that a comparison needs."""
        return all(start.n >= _ENOUGH for start in (*self.saved, *([self.eager] if self.eager else [])))

    @property
    def alike(self) -> tuple[Start, ...]:
        """The fastest, and those whose range overlaps its range."""
        return tuple(start for start in self.saved if start.overlaps(self.saved[0]))

    def leader(self) -> str:
        """Who loads fastest, or who cannot be told apart."""
        if len(self.saved) == 1:
            return f"{self.saved[0].strategy} is the only saved strategy with a number"
        if len(self.alike) > 1:
            return f"{listed([start.strategy for start in self.alike])} start alike, fastest of the saved strategies"
        return f"{self.saved[0].strategy} loads fastest of the saved strategies"

    def not_judged(self) -> str:
        """What one sample allows: the span, without an order."""
        times = f"{seconds(self.saved[0].median_s)} to {seconds(self.saved[-1].median_s)}"
        if len(self.saved) == 1:
            times = seconds(self.saved[0].median_s)
        beside = f"eager {seconds(self.eager.median_s)}" if self.eager else "eager was not measured"
        return f"n=1, not judged; {counted(len(self.saved), 'saved strategy', 'saved strategies')} {times}, {beside}"


def standing(by_temperature: Mapping[str, Sequence[Start]]) -> Standing | None:
    """The coldest temperature at which every row has two samples, else the coldest; None where no strategy loaded."""
    found = []
    for temperature in TEMPERATURES:
        starts = by_temperature.get(temperature, ())
        saved = sorted((s for s in starts if s.strategy != EAGER), key=lambda s: (s.median_s, s.strategy))
        if saved:
            eager = next((s for s in starts if s.strategy == EAGER), None)
            found.append(Standing(temperature, eager, tuple(saved)))
    return next((one for one in found if one.judged), found[0] if found else None)
