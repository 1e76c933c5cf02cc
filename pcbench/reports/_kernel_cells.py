"""A launch of a kernel as a row of words."""

from __future__ import annotations

from pcbench.analysis.kernel_launches import Launch, Since
from pcbench.analysis.quantities import digits, seconds, with_spread
from pcbench.analysis.roofline import Measured, Prediction, Unknown, intensity
from pcbench.status import Status

_NOTHING = "-"
HEADER = (
    *("launch", "target", "card", "operations/byte", "predicted least", "if nothing is cached", "measured"),
    *("GB/s", "TFLOP/s", "of measured roof", "kernel / torch", "throttled", "SM clock", "configuration"),
    *("registers", "spills", "blocks/SM", "occupancy", "since the run before"),
)


def cells(launch: Launch) -> tuple[str, ...]:
    """As :data:`HEADER` names them; numbers of several functions in the order of their launch."""
    work, measured = launch.work, launch.measured
    gpu = measured.gpu if isinstance(measured, Measured) else "" if launch.card is None else launch.card.name
    return (
        launch.name,
        launch.target or _NOTHING,
        gpu or _NOTHING,
        _NOTHING if work is None or not work.bytes_moved else digits(intensity(work)),
        *_predicted(launch.predicted),
        *_measured(measured),
        _configuration(launch),
        *_compiled(launch),
        since_words(launch.since),
    )


def _predicted(found: Prediction | Unknown) -> tuple[str, str]:
    if isinstance(found, Unknown):
        return f"not known: {found.reason}", _NOTHING
    return f"{seconds(found.least_s)} ({found.limit})", seconds(found.uncached_s)


def _measured(found: Measured | Unknown) -> tuple[str, ...]:
    if isinstance(found, Unknown):
        return f"not measured: {found.reason}", *[_NOTHING] * 6
    ratio, throttled, clocks = found.ratio, found.throttled, found.clock_mhz
    return (
        with_spread(found.seconds, "seconds"),
        digits(found.bytes_per_s / 1e9),
        digits(found.flops_per_s / 1e12),
        f"not known: {found.of_roof.reason}" if isinstance(found.of_roof, Unknown) else f"{found.of_roof:.1%}",
        f"not known: {ratio.reason}"
        if isinstance(ratio, Unknown)
        else f"{ratio.median:.3f} ({ratio.low:.3f}-{ratio.high:.3f}, n={ratio.n}, {found.rival})",
        f"not known: {throttled.reason}" if isinstance(throttled, Unknown) else f"{throttled:.0%}",
        f"not known: {clocks.reason}" if isinstance(clocks, Unknown) else f"{clocks[0]:.0f}-{clocks[1]:.0f} MHz",
    )


def _configuration(launch: Launch) -> str:
    """What ran, and what was compiled where that is not it."""
    built = "; ".join(row.key.config for row in launch.compiled if row.key.config)
    ran = launch.measured.config if isinstance(launch.measured, Measured) else ""
    if not ran:
        return built or _NOTHING
    if not built or any(set(ran.split()) <= set(row.key.config.split()) for row in launch.compiled):
        return ran
    return f"{ran}; compiled: {built}"


def _compiled(launch: Launch) -> tuple[str, ...]:
    failed = [row for row in launch.compiled if row.status is not Status.OK]
    if failed:
        return f"{failed[0].status}: {failed[0].reason or 'no reason was given'}", *[_NOTHING] * 3
    return (
        _each(launch, "registers"),
        _each(launch, "spill_stores"),
        _each(launch, "blocks_per_sm"),
        _each(launch, "occupancy"),
    )


def _each(launch: Launch, metric: str) -> str:
    found = [row.metrics.get(metric) for row in launch.compiled]
    write = (lambda value: f"{value:.3g}") if metric == "occupancy" else digits
    return " / ".join(_NOTHING if value is None else write(value) for value in found) or _NOTHING


def since_words(since: Since) -> str:
    """What changed, the worst first, or that nothing did."""
    if since.commit is None:
        return "no run before"
    if since.same:
        return f"the same machine code as {since.commit[:8]}"
    said = [f"{change.weight}: {change.sentence}" for change in since.changes]
    told = "; ".join(said) if said else "other machine code, no rule fired"
    return f"since {since.commit[:8]}: {told}"
