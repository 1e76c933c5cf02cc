"""A launch of a kernel as a row of words."""

from __future__ import annotations

from pcbench.analysis.kernel_history import Since
from pcbench.analysis.kernel_launches import Launch
from pcbench.analysis.quantities import digits, seconds, with_spread
from pcbench.analysis.roofline import Measured, Prediction, Unknown, intensity
from pcbench.status import Status

_NOTHING = "-"
HEADER = (
    *("launch", "target", "card", "operations/byte", "predicted least", "if nothing is cached", "measured"),
    *("GB/s", "TFLOP/s", "of the copy's or matmul's rate", "kernel / torch", "throttled", "SM clock", "configuration"),
    *("registers", "spill stores", "blocks/SM", "occupancy", "since the run before"),
)


def cells(launch: Launch) -> tuple[str, ...]:
    """As :data:`HEADER` names them; numbers of several functions in the order of their launch."""
    work, measured = launch.work, launch.measured
    gpu = measured.gpu if isinstance(measured, Measured) else "" if launch.card is None else launch.card.name
    return (
        launch.name,
        launch.target,
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
    rival = f"{found.rival}{_with_cpu(found.rival_unqueued, found.seconds.n)}"
    return (
        f"{with_spread(found.seconds, 'seconds')}, one process{_doubts(found)}",
        digits(found.bytes_per_s / 1e9),
        digits(found.flops_per_s / 1e12),
        f"not known: {found.of_roof.reason}"
        if isinstance(found.of_roof, Unknown)
        else f"{found.of_roof:.1%} ({found.beside})",
        f"not known: {ratio.reason}"
        if isinstance(ratio, Unknown)
        else f"{ratio.median:.3f} ({ratio.low:.3f}-{ratio.high:.3f}, n={ratio.n}, {rival})",
        f"not known: {throttled.reason}" if isinstance(throttled, Unknown) else f"{throttled:.0%}",
        f"not known: {clocks.reason}" if isinstance(clocks, Unknown) else f"{clocks[0]:.0f}-{clocks[1]:.0f} MHz",
    )


def _doubts(found: Measured) -> str:
    """What else than the kernel may be in its time."""
    return _with_cpu(found.unqueued, found.seconds.n) + ("" if found.rotated else ", inputs may be cached")


def _with_cpu(unqueued: int, samples: int) -> str:
    return f", CPU in {unqueued} of {samples}" if unqueued else ""


def _configuration(launch: Launch) -> str:
    """What ran, and what was compiled where that lacks some of it."""
    built = [row.key.config for row in launch.compiled if row.key.config]
    ran = launch.measured.config if isinstance(launch.measured, Measured) else ()
    if not ran:
        return "; ".join(built) or _NOTHING
    if not built or all(config in built for config in ran):
        return "; ".join(ran)
    return f"{'; '.join(ran)}; compiled: {'; '.join(built)}"


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
    if since.same is None:
        return "not judged: the policy ignores it"
    if since.same:
        return f"the same machine code as {since.commit[:8]}"
    said = [f"{change.weight}: {change.sentence}" for change in since.changes]
    told = "; ".join(said) if said else "other machine code, no rule fired"
    return f"since {since.commit[:8]}: {told}"
