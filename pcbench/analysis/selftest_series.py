"""Series of nights whose truth is known: noise that looks like timings, with a step or without."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pcbench.analysis.kernel_cuts import Floats

NIGHTS = 100
_SD = 0.02
_OUTLIERS = 0.02
_OUTLIER_RANGE = (1.10, 1.30)
_BURN_IN = 50
_STEP_NIGHTS = (40, 70)

SCENARIOS: Mapping[str, str] = {
    "base": "t(4) noise, SD 2 %, 2 % of nights 1.10 to 1.30 times as slow",
    "ar": "the same noise with an autocorrelation of 0.5 from night to night",
    "real": "published timings without a lasting shift, the step multiplied in",
}


@dataclass(frozen=True)
class Planted:
    """Series of one scenario.

    Attributes:
        values: Shape (series, NIGHTS); lower is better.
        at: The first night of each series' step, 40 to 69; also where the step is of 0 %.
        size: The step's share.
    """

    values: Floats
    at: tuple[int, ...]
    size: float


def planted(scenario: str, size: float, series: int, seed: int, real: Floats | None = None) -> Planted:
    """So many series of a scenario, each with a step of this share at a random night.

    Args:
        real: Shape (rows, NIGHTS), for the scenario ``real``: each of up to ``series`` rows is taken once.
    """
    rng = np.random.default_rng([seed, list(SCENARIOS).index(scenario), round(size * 10_000)])
    if scenario == "real":
        if real is None:
            raise ValueError("the scenario 'real' needs rows")
        values = real[rng.permutation(len(real))[:series]]
    else:
        values = _noise(rng, series, 0.5 if scenario == "ar" else 0.0)
    at = rng.integers(*_STEP_NIGHTS, len(values))
    slow = np.arange(NIGHTS) >= at[:, None]
    return Planted(values * np.where(slow, 1 + size, 1.0), tuple(at.tolist()), size)


def _noise(rng: np.random.Generator, series: int, correlation: float) -> Floats:
    noise = rng.standard_t(4, (series, NIGHTS + _BURN_IN)) * _SD / np.sqrt(2)  # t(4) has a variance of 2
    for night in range(1, noise.shape[1]):
        noise[:, night] = correlation * noise[:, night - 1] + np.sqrt(1 - correlation**2) * noise[:, night]
    values = np.maximum(1 + noise[:, _BURN_IN:], 0.2)
    outliers = rng.random(values.shape) < _OUTLIERS
    return np.asarray(np.where(outliers, values * rng.uniform(*_OUTLIER_RANGE, values.shape), values))
