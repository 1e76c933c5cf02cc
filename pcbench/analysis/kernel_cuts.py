"""Where a series of nights changes its level: optimal cuts under a kernel, so that an outlier counts as one night only.

A segment costs what its values lack in likeness to each other, by a Gaussian kernel as wide as the median distance
(Arlot, Celisse, Harchaoui 2019); each cut costs a penalty. The optimum is exact, by dynamic programming, and that of
``ruptures.KernelCPD(kernel="rbf", min_size=least)``, with which a test compares it; releases of ruptures need Python
below 3.14, so that nothing here stands on it.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def cuts(values: Floats, penalties: tuple[float, ...], least: int) -> tuple[tuple[int, ...], ...]:
    """For each penalty the indexes at which a new segment begins, of at least ``least`` values each.

    Args:
        values: One dimension, finite; of any scale. Time and memory grow with the square of their number.
    """
    n = len(values)
    if n < 2 * least:
        return tuple(() for _ in penalties)
    sums = _sums(values)
    own = sums.diagonal()
    return tuple(_optimum(sums, own, penalty, least) for penalty in penalties)


def _sums(values: Floats) -> Floats:
    """Entry (i, j) is the sum of the kernel over the first i by the first j values."""
    n = len(values)
    apart = (values[:, None] - values[None, :]) ** 2
    width = float(np.median(apart[_pairs(n)]))
    sums = np.zeros((n + 1, n + 1))
    # More than half of all pairs alike: any other value is then as unlike as can be.
    sums[1:, 1:] = np.exp(apart / -width) if width > 0 else apart == 0
    np.cumsum(sums, axis=0, out=sums)
    return np.cumsum(sums, axis=1, out=sums)


@functools.lru_cache(maxsize=4)
def _pairs(n: int) -> NDArray[np.bool_]:
    return np.triu(np.ones((n, n), dtype=bool), 1)


def _optimum(sums: Floats, own: Floats, penalty: float, least: int) -> tuple[int, ...]:
    n = len(own) - 1
    best = np.full(n + 1, np.inf)
    best[0] = 0.0
    begins = np.zeros(n + 1, dtype=int)
    back = np.arange(n, -1, -1.0)
    for end in range(least, n + 1):
        starts = end - least + 1
        lengths = back[n - end : n - end + starts]
        # The kernel is 1 on its diagonal, so that a segment's cost is its length less its mean likeness.
        alike = (own[end] - 2 * sums[end, :starts] + own[:starts]) / lengths
        total = best[:starts] + lengths - alike
        begins[end] = begin = int(total.argmin())
        best[end] = total[begin] + penalty
    found = []
    begin = int(begins[n])
    while begin > 0:
        found.append(begin)
        begin = int(begins[begin])
    return tuple(reversed(found))
