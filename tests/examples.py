"""Made-up comparisons and runs, where a test needs numbers that it knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from pcbench.analysis.comparison import Comparison, Row
from pcbench.analysis.records import Absence, Case, Context, Machine, Measurement, Run
from pcbench.guard_samples import Census, Place
from pcbench.samples import LoadSample, Phases
from pcbench.status import Status


def sample(total_s: float, temperature: str = "cold", status: Status = Status.OK) -> LoadSample:
    """A load whose phases are tenths of its total: 2 torch, 1 other imports, 1 model, 4 load, 2 first call."""
    tenth = total_s / 10
    phases = Phases(0.0, 2 * tenth, tenth, tenth, 4 * tenth, 2 * tenth)
    return LoadSample(temperature, phases, 0.9 * total_s, 400_000_000, 0, status)


def row(
    strategy: str,
    starts: Sequence[float],
    *,
    temperature: str = "cold",
    call_s: Sequence[float] = (),
    eager_call_s: Sequence[float] = (),
    capture_s: Sequence[float] = (),
) -> Row:
    return Row(
        strategy,
        temperature,
        Status.OK,
        weights=None if strategy == "eager" else "baked",
        capture_s=tuple(capture_s),
        save_s=tuple(0.5 for _ in capture_s),
        artifact_bytes=None if strategy == "eager" else 1_200_000,
        samples=tuple(sample(start, temperature) for start in starts),
        call_s=tuple(call_s),
        eager_call_s=tuple(eager_call_s),
    )


def crashed(strategy: str, temperature: str = "cold", reason: str = "at load: ended by SIGSEGV") -> Row:
    return Row(strategy, temperature, Status.CRASHED, reason)


def comparison(*rows: Row) -> Comparison:
    machine = {"cpu": "a processor", "num_cpu": 2, "gpu": None}
    return Comparison("mlp", "2.15.0", "3.9.0", "3.11.7", machine, 2, rows)


def ladder() -> Comparison:
    """Three temperatures, eager, two strategies that load and one that crashed."""
    rows = []
    for temperature, scale in (("cold", 1.0), ("warm", 0.7), ("hot", 0.02)):
        calls = [300e-6 + i * 1e-6 for i in range(20)]
        rows += [
            row("eager", [2.0 * scale, 2.1 * scale, 1.9 * scale], temperature=temperature),
            row(
                "aoti",
                [2.4 * scale, 2.3 * scale, 2.5 * scale],
                temperature=temperature,
                call_s=[0.5 * call for call in calls],
                eager_call_s=calls,
                capture_s=[9.0],
            ),
            row(
                "export",
                [4.0 * scale, 4.2 * scale, 4.1 * scale],
                temperature=temperature,
                call_s=calls,
                eager_call_s=calls,
                capture_s=[3.0],
            ),
            crashed("jit_script", temperature),
        ]
    return comparison(*rows)


def timing(values: Sequence[float], unit: str = "seconds") -> Measurement:
    ordered = sorted(values)
    n = len(ordered)
    spread = (ordered[n // 4], ordered[n - 1 - n // 4]) if n > 1 else (None, None)
    return Measurement(ordered[n // 2], unit, tuple(values), *spread, n, "up")


def load_case(strategy: str, temperature: str, model: str = "mlp") -> Case:
    params = (("model", model), ("strategy", strategy), ("temperature", temperature))
    return Case("bench_load.Load.track_first_output", params)


def run(
    number: int,
    measurements: Mapping[Case, Measurement],
    absences: Mapping[Case, Absence] | None = None,
    *,
    environment: str = "shared",
    context: bool = True,
) -> Run:
    commit = f"{number:08x}" + "0" * 32
    known = Context(commit, environment, torch="2.15.0", triton="3.9.0", threads=2) if context else None
    date = datetime(2026, 9, 1, tzinfo=UTC) + timedelta(days=number)
    return Run(commit, date, environment, Machine("toybox", "a processor", "2"), known, measurements, absences or {})


def history(
    commits: int, strategies: Sequence[str] = ("eager", "aoti", "export"), step_at: int | None = None
) -> list[Run]:
    """A run per commit; from ``step_at`` on the strategy export takes twice the time."""
    runs = []
    for number in range(commits):
        found = {}
        for place, strategy in enumerate(strategies):
            for temperature, scale in (("cold", 2.0), ("warm", 1.4), ("hot", 0.05)):
                slower = 2.0 if strategy == "export" and step_at is not None and number >= step_at else 1.0
                value = scale * (1 + 0.3 * place) * slower
                times = [value] if temperature == "cold" else [value * f for f in (0.97, 0.99, 1.0, 1.01, 1.03)]
                found[load_case(strategy, temperature)] = timing(times)
        runs.append(run(number, found, {load_case("torchscript", "cold"): Absence("CRASHED", "ended by SIGSEGV")}))
    return runs


def four_builds() -> list[Run]:
    """One commit with four torch builds: the newest takes a third more, but for eager; one lost a strategy."""
    runs = []
    for torch, factor in (("2.13.0", 1.0), ("2.14.1", 1.0), ("2.15.0", 0.8), ("2.16.0.dev20261129+cpu", 4 / 3)):
        (made,) = history(1)
        assert made.context is not None
        found = {
            case: m if case.param("strategy") == "eager" else timing([factor * value for value in m.samples or ()])
            for case, m in made.measurements.items()
        }
        absences = dict(made.absences)
        if torch == "2.14.1":
            del found[load_case("aoti", "hot")]
            absences[load_case("aoti", "hot")] = Absence("UNAVAILABLE", "no hot load there")
        context = replace(made.context, torch=torch, torch_git=f"git of {torch}", environment=f"shared-torch{torch}")
        run_of = replace(made, environment=f"shared-torch{torch}", context=context)
        runs.append(replace(run_of, measurements=found, absences=absences))
    return runs


def capture_case(kind: str, strategy: str, temperature: str, of: str) -> Case:
    """A case of ``Phases.track_seconds`` or ``Counts.track_count``, as ``kind`` (phase or count) says."""
    name = {"phase": "Phases.track_seconds", "count": "Counts.track_count"}[kind]
    params = (("model", "mlp"), ("strategy", strategy), ("temperature", temperature), (kind, of))
    return Case(f"bench_capture.{name}", params)


def captures(number: int, *, compile_s: float = 30.0, kernels: int = 1) -> Run:
    """A run with captures of aoti, cold and warm, of export, whose Dynamo phase is unknown, and of one that failed."""
    found, absences = {}, {}
    for strategy, temperature, seconds in (
        ("aoti", "cold", compile_s),
        ("aoti", "warm", 10.0),
        ("export", "cold", 0.0),
    ):
        for phase, value in (("dynamo_s", 0.0), ("inductor_s", 2.0), ("compile_s", seconds), ("other_s", 1.0)):
            found[capture_case("phase", strategy, temperature, phase)] = timing([value])
        found[capture_case("count", strategy, temperature, "generated_kernels")] = Measurement(float(kernels), "")
    unknown = capture_case("phase", "export", "cold", "dynamo_s")
    del found[unknown]
    absences[unknown] = Absence("UNAVAILABLE", "torch 9.9 has no timer")
    for phase in ("dynamo_s", "inductor_s"):
        absences[capture_case("phase", "nativert", "cold", phase)] = Absence("UNAVAILABLE", "no such runtime " * 20)
    return run(number, found, absences)


def guard_slopes(per_guard_s: Mapping[str, float]) -> dict[Case, Measurement]:
    """What asv stores of guard families, five processes each: an item is two guards, the intercept 1.3 us."""
    found = {}
    for family, guard_s in per_guard_s.items():
        for part, value in (("per guard", guard_s), ("per item", 2 * guard_s), ("intercept", 1.3e-6)):
            case = Case("bench_guards.Slope.track_seconds", (("family", family), ("part", part)))
            found[case] = timing([value * f for f in (0.95, 0.98, 1.0, 1.01, 1.06)])
    return found


def guard_history(commits: int, models: int = 3, *, torch: str = "2.15.0", environment: str = "shared") -> list[Run]:
    """Runs with a census of each model; at the newest commit model0 has a guard more, on ``L['new']``."""
    runs = []
    for number in range(commits):
        censuses = {}
        for place in range(models):
            more = {"L['new']": Place(("TENSOR_MATCH",))} if place == 0 and number == commits - 1 else {}
            places = {"L['x']": Place(("TENSOR_MATCH", "TYPE_MATCH")), **more}
            counts = {"guards": 46 + 400 * place + len(more), "guards: TENSOR_MATCH": 1 + len(more)}
            censuses[f"model{place}"] = Census(counts, places)
        made = run(number, {}, environment=environment)
        assert made.context is not None
        context = replace(made.context, torch=torch, torch_git=f"git of {torch}")
        runs.append(replace(made, context=context, censuses=censuses))
    return runs
