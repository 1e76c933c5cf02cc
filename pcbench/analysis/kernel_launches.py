"""Each launch of a kernel for each target at the newest run: what was predicted, measured, compiled, and changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pcbench.analysis.cards import Card, card_of_device, card_of_target, in_order
from pcbench.analysis.codegen_changes import Change
from pcbench.analysis.codegen_rows import CodegenRow
from pcbench.analysis.kernel_history import Earlier, Since, earlier, since
from pcbench.analysis.records import Absence, Run
from pcbench.analysis.roofline import Measured, Prediction, Unknown, measure, predict
from pcbench.analysis.series import Place, by_place
from pcbench.analysis.shown import Shown
from pcbench.codegen_numbers import number_of
from pcbench.kernel_samples import KernelTimes, Work, launch_name
from pcbench.status import Status

_BENCHMARK = "bench_kernels."
_NOT_RUN, _NO_CASE = "bench_kernels did not run", "bench_kernels has no case of it"


@dataclass(frozen=True)
class Launch:
    """A kernel at sizes and a dtype, for a target.

    Attributes:
        card: The one that was measured where its peaks are known, else the one that stands for the target.
        compiled: What the compiler made of it: a row for each function that it launches, in the configuration that
            ran, where that is known and among the rows, else the first.
    """

    kernel: str
    dtype: str
    sizes: str
    target: str
    card: Card | None
    work: Work | None
    compiled: tuple[CodegenRow, ...]
    predicted: Prediction | Unknown
    measured: Measured | Unknown
    since: Since

    @property
    def name(self) -> str:
        """``softmax float16 rows=4096 columns=1024``."""
        return launch_name(self.kernel, self.dtype, self.sizes)

    @property
    def spills(self) -> float | None:
        """Spill stores and loads of all its functions; None where one is not known."""
        return number_of("spills", [row.metrics for row in self.compiled])

    @property
    def tightest(self) -> CodegenRow | None:
        """Of its functions, the one that fills a multiprocessor least, then takes most registers.

        Returns:
            None if one fails or if, of several, it is not known how far one fills it.
        """
        if not self.compiled or any(row.status is not Status.OK for row in self.compiled):
            return None
        if len(self.compiled) > 1 and not all("occupancy" in row.metrics for row in self.compiled):
            return None
        return min(
            self.compiled,
            key=lambda row: (row.metrics.get("occupancy", 0.0), -row.metrics.get("registers", 0.0)),
        )


@dataclass(frozen=True)
class Kernels:
    """The launches of a place's newest run that has any, in the order that they are tracked in.

    Attributes:
        gone: What changed for compilations that an earlier run has and this one has not.
    """

    place: Place
    run: Run
    launches: tuple[Launch, ...]
    gone: tuple[Change, ...] = ()

    @property
    def timed(self) -> tuple[KernelTimes, ...]:
        """The launches that were timed on a GPU."""
        return tuple(self.run.kernel_times.values())


def kernels(shown: Shown) -> list[Kernels]:
    """By place, the newest run first."""
    known = [run for run in shown.runs if run.codegen or run.kernel_times]
    found = []
    for place, ordered in by_place(known).items():
        run = ordered[-1]
        before = earlier(run, ordered[:-1], shown.policy)
        here = {row.key for rows in run.codegen.values() for row in rows}
        gone = tuple(change for one in before.values() for change in one.changes if change.key not in here)
        found.append(Kernels(place, run, tuple(_launches(run, before)), gone))
    return sorted(found, key=lambda one: one.run.date, reverse=True)


def _launches(run: Run, before: Mapping[tuple[str, str], Earlier]) -> Iterable[Launch]:
    compiled = {(kernel, target): _by_launch(rows) for (kernel, target), rows in run.codegen.items()}
    devices = {times.target: times.gpu for times in run.kernel_times.values()}
    for (kernel, dtype, sizes), targets in _tracked(run, compiled).items():
        timed = run.kernel_times.get(launch_name(kernel, dtype, sizes))
        for target in targets:
            rows = compiled.get((kernel, target), {}).get((dtype, sizes), [])
            here = timed if timed is not None and timed.target == target else None
            device = devices.get(target) if here is None else here.gpu
            card = card_of_target(target) if device is None else card_of_device(device)
            work = next((row.work for row in rows if row.work is not None), None) if here is None else here.work
            yield Launch(
                kernel=kernel,
                dtype=dtype,
                sizes=sizes,
                target=target,
                card=card,
                work=work,
                compiled=_as_run(rows, here.config if here else ()),
                predicted=predict(work, dtype, card),
                measured=measure(here) if here else Unknown(_why_unmeasured(run, (kernel, dtype, sizes), timed)),
                since=since(before.get((kernel, target)), rows),
            )


def _tracked(
    run: Run, compiled: Mapping[tuple[str, str], Mapping[tuple[str, str], object]]
) -> dict[tuple[str, str, str], list[str]]:
    """Kernel, dtype and sizes to the targets that they were compiled or timed for, those of a kernel together."""
    told = [
        (kernel, dtype, sizes, target) for (kernel, target), by_launch in compiled.items() for dtype, sizes in by_launch
    ]
    told += [(one.kernel, one.dtype, one.sizes, one.target) for one in run.kernel_times.values()]
    first: dict[str, int] = {}
    for kernel, *_ in told:
        first.setdefault(kernel, len(first))
    found: dict[tuple[str, str, str], list[str]] = {}
    for kernel, dtype, sizes, target in sorted(dict.fromkeys(told), key=lambda one: first[one[0]]):
        found.setdefault((kernel, dtype, sizes), []).append(target)
    return {launch: in_order(targets) for launch, targets in found.items()}


def _by_launch(rows: Iterable[CodegenRow]) -> dict[tuple[str, str], list[CodegenRow]]:
    found: dict[tuple[str, str], list[CodegenRow]] = {}
    for row in rows:
        found.setdefault((row.key.dtype, row.key.sizes), []).append(row)
    return found


def _as_run(rows: Sequence[CodegenRow], config: tuple[str, ...]) -> tuple[CodegenRow, ...]:
    """A row for each function: the first in a configuration that ran, else the first."""
    by_function: dict[str, CodegenRow] = {}
    for row in sorted(rows, key=lambda row: row.key.config not in config):
        by_function.setdefault(row.key.function, row)
    return tuple(row for row in rows if row is by_function[row.key.function])


def _why_unmeasured(run: Run, launch: tuple[str, str, str], elsewhere: KernelTimes | None) -> str:
    if elsewhere is not None:
        return f"it was timed on {elsewhere.gpu}"
    name = launch_name(*launch)
    told = {case: why for case, why in run.absences.items() if case.benchmark.startswith(_BENCHMARK)}
    own = [why for case, why in told.items() if name in dict(case.params).values()]
    return _words(own[0]) if own else _NO_CASE if told or run.kernel_times else _NOT_RUN


def _words(why: Absence) -> str:
    return why.reason or ("it was left out of this run" if why.not_measured else why.status)


def by_kernel(launches: Iterable[Launch]) -> Mapping[str, list[Launch]]:
    """Launches by kernel, in the order that they are tracked in."""
    found: dict[str, list[Launch]] = {}
    for launch in launches:
        found.setdefault(launch.kernel, []).append(launch)
    return found
