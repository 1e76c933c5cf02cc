"""Reports of guards, made up, for tests of what is said of them."""

from __future__ import annotations

from collections.abc import Mapping

from pcbench.analysis.guard_report import GuardReport
from pcbench.guard_causes import ALONE, FILTER, FLAG, KindCost, Part, Remedies, Remedy, Subtrees
from pcbench.guard_samples import CHECK, DIRECT, HIT, Census, Cost, Counted, Place, Sweep

PLACES = {
    "root": Place(("GLOBAL_STATE", "LAMBDA_GUARD")),
    "L['x']": Place(("TENSOR_MATCH",), ("is_tag_safe",)),
    "L['x'].shape": Place(()),
}
COUNTS = {
    "frames": 1,
    "guards": 3,
    "guards in C++": 2,
    "guards in Python": 1,
    "guards: GLOBAL_STATE": 1,
    "guards: LAMBDA_GUARD": 1,
    "guards: TENSOR_MATCH": 1,
    "answers: is_tag_safe": 1,
}


def counted(
    counts: Mapping[str, int] = COUNTS, places: Mapping[str, Place] = PLACES, **differing: tuple[str, str]
) -> Counted:
    return Counted(Census(counts, places, {"answers: is_new": "it takes arguments"}), "2.15.0", "abc", differing)


def cost(check_us: float, hit_us: float = 10.0) -> Cost:
    """A process whose least block of a check takes so long."""
    samples = {
        CHECK: (check_us * 1.5, check_us),
        HIT: (hit_us, hit_us + 1),
        DIRECT: (2.0, 2.5),
        "hit at entry 8 of 8": (30.0, 31.0),
    }
    in_seconds = {name: tuple(1e-6 * value for value in taken) for name, taken in samples.items()}
    return Cost(in_seconds, {"loaded: call": "it cannot be saved"})


def sweep(family: str, guard_ns: float) -> Sweep:
    """A family of three guards a size."""
    sizes = (1, 8, 64, 512)
    samples = {size: ((1000 + guard_ns * 3 * size) * 1e-9, 1e-3) for size in sizes}
    return Sweep(family, {size: 5 + 3 * size for size in sizes}, samples)


def subtrees(check_us: float) -> Subtrees:
    one = Part("L['self'].layers", 5, 9, ALONE, tuple(check_us * f * 1e-6 for f in (0.5, 0.4, 3)), "a note")
    other = Part("L['x']", 1, 1, ALONE, (check_us * 0.1e-6,))
    kinds = (
        KindCost(("guards: TENSOR_MATCH",), 4, 1e-7),
        KindCost(("guards: TYPE_MATCH",), 2, -1e-9),
        KindCost(("guards: ID_MATCH",), 1, None, reason="it is on one value alone"),
    )
    whole = tuple(check_us * f * 1e-6 for f in (1, 0.8, 4))
    return Subtrees(whole, whole, (1e-7,), (2e-7,), {}, (one, other), (other, one), kinds, 0.95, {"L['y']": "refused"})


def remedies(ratio: float) -> Remedies:
    default = Census(COUNTS)
    timed = {CHECK: (2e-6 * ratio,) * 3, HIT: (9e-6 * ratio,) * 3}
    usual = {CHECK: (2e-6,) * 3, HIT: (9e-6,) * 3}
    fewer = Census(COUNTS | {"guards": 1, "guards in Python": 0})
    return Remedies(
        default,
        (
            Remedy("specialize_float=True", FLAG, "nothing", Census(COUNTS), timed | {CHECK: (4e-6,) * 3}, usual),
            Remedy("skip_all_guards_unsafe", FILTER, "any change", fewer, timed, usual),
            Remedy("broken=True", FLAG, "unknown to pcbench", None, reason="its compiled call raised"),
        ),
        ("quiet=True",),
    )


def report(build: str = "this", factor: float = 1.0, **changed: object) -> GuardReport:
    """A model's report of three processes, all times by a factor."""
    fields: dict[str, object] = {
        "counted": counted(),
        "costs": tuple(cost(factor * check) for check in (2.01, 2.21, 2.11)),
        "subtrees": tuple(subtrees(factor * check) for check in (2.0, 2.2, 2.1)),
        "remedies": tuple(remedies(ratio) for ratio in (0.5, 0.6, 0.55)),
    }
    return GuardReport("encoder", build, **(fields | changed))  # type: ignore[arg-type]  # by name
