"""asv's own step detection as rules for a selftest. asv's modules are imported here, not by the analysis."""

from __future__ import annotations

import itertools

from asv import step_detect  # type: ignore[import-untyped]

from pcbench.analysis.kernel_cuts import Floats

_THRESHOLD = 0.05  # asv's default


def asv_rules(values: Floats) -> dict[str, list[int]]:
    """Every upward step that ``asv publish`` draws, and the regressions that it reports at its default of 5 %."""
    found = step_detect.detect_steps(values.tolist())
    levels = [(begin, level) for begin, _, level, _, _ in found]
    upward = [begin for (_, before), (begin, after) in itertools.pairwise(levels) if after > before]
    _, _, regressions = step_detect.detect_regressions(found, threshold=_THRESHOLD)
    return {
        "asv: any step upward": upward,
        "asv: regressions of 5 %": [after for _, after, _, _ in regressions or ()],
    }
