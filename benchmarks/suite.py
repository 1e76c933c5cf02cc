"""What the benchmarks share: the names that they run over, how often, and the commit's own measuring code.

asv stores results by position. So names come from the working tree's files, never from the measured commit, whose list
may be another.
"""

from __future__ import annotations

import ast
import json
import os
import sys
from pathlib import Path

try:
    from pcbench import tracking
except ImportError as error:
    tracking = None
    LACKING = f"this commit cannot be measured by this suite: {error}"
else:
    LACKING = None

QUICK_MODELS = ("mlp",)
PROFILE = os.environ.get("PCBENCH_PROFILE", "quick")
# A night that is short of time names the benchmarks that it repeats less.
FEW = os.environ.get("PCBENCH_BENCHMARK", "?") in os.environ.get("PCBENCH_FEW", "").split(",")
ONE_SAMPLE = bool(os.environ.get("PCBENCH_ONE_SAMPLE"))  # of a pair of processes, as pcbench ab takes them

_PACKAGE = Path(__file__).resolve().parent.parent / "pcbench"


def _names(folder: str) -> list[str]:
    return sorted(file.stem for file in (_PACKAGE / folder).glob("*.py") if not file.stem.startswith("_"))


def _functions(folder: str) -> list[str]:
    """The public functions of a folder's modules, read from their source."""
    trees = [ast.parse((_PACKAGE / folder / f"{name}.py").read_text(encoding="utf-8")) for name in _names(folder)]
    found = [node.name for tree in trees for node in tree.body if isinstance(node, ast.FunctionDef)]
    return sorted(name for name in found if not name.startswith("_"))


MODELS = [name for name in _names("models") if PROFILE == "full" or name in QUICK_MODELS]
STRATEGIES = _names("strategies")
TEMPERATURES = ["cold", "warm", "hot"]
PEAK_TEMPERATURES = ["cold", "warm"]
QUICK_FAMILIES = ("module_attributes", "tensors")
FAMILIES = [name for name in _functions("guards/families") if PROFILE == "full" or name in QUICK_FAMILIES]
FAMILY_SIZES = (1, 8, 64, 512)
COUNTED_SIZES = (8, 64)
COUNTED = [*MODELS, *(f"{family} at {size}" for family in FAMILIES for size in COUNTED_SIZES if PROFILE == "full")]
GUARD_PROCESSES = 1 if ONE_SAMPLE else 5 if PROFILE == "full" and not FEW else 3
SEEDED, SEEDED_BY = ("guard_seconds", "guard_slope_seconds"), "pcbench.guard_tracking"
DOCUMENTS = ["load_compiled_function", *(["torch_compiler_api"] if PROFILE == "full" else [])]


def _launches(folder) -> list[str]:
    """Every kernel at each of its sizes and dtypes, as ``softmax float16 rows=4096 columns=1024``, from its source.

    Raises:
        ValueError: A kernel does not have them written out.
    """
    found = []
    for file in sorted(folder.glob("[!_]*.py")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets) == "KERNEL":
                break
        else:
            raise ValueError(f"{file} does not end in KERNEL = Kernel(...)")
        given = {word.arg: word.value for word in getattr(node.value, "keywords", ())}
        try:
            shapes = eval(compile(ast.Expression(given["shapes"]), str(file), "eval"), {"__builtins__": {}})
            sizes = [" ".join(f"{extent}={size}" for extent, size in shape.items()) for shape in shapes]
            dtypes = [_dtype(value) for value in given["dtypes"].elts]
        except (KeyError, AttributeError, NameError, TypeError) as error:
            raise ValueError(
                f"{file} has to write out its shapes and dtypes in KERNEL = Kernel(...), as "
                f'shapes=({{"rows": 4096}},), dtypes=(torch.float16,): {type(error).__name__}: {error}'
            ) from error
        found += [f"{file.stem} {dtype} {shape}" for shape in sizes for dtype in dtypes]
    return found


def _dtype(value) -> str:
    written = ast.unparse(value)
    if not written.startswith("torch."):
        raise TypeError(f"{written} is not of the form torch.float16")
    return written.removeprefix("torch.")


KERNELS = _names("../kernels")
CHIPS = ["sm_90", "sm_100", *(["sm_80", "gfx942"] if PROFILE == "full" else [])]
LAUNCHES = _launches(_PACKAGE.parent / "kernels")
COMPILES = 3 if PROFILE == "full" and not FEW and not ONE_SAMPLE else 1  # processes that compile a kernel


def require_commit(*case):
    """Make a case n/a, with its reason in the result's sidecar, on a commit that has nothing to measure it with."""
    if tracking is None:
        _not_applicable(case, LACKING)


def require(measure, *case):
    """Likewise on a commit that measures, but not this."""
    if not hasattr(tracking, measure):
        _not_applicable(case, f"this commit's pcbench.tracking has no {measure}")
    if ONE_SAMPLE and measure in SEEDED and not hasattr(sys.modules[SEEDED_BY], "SEEDED_BY_PAIR"):
        # Its processes have hash seed 1 in every pair: against another seed, this alone is worth several percent.
        _not_applicable(case, "this commit cannot time guards in pairs: it sets their hash seed itself")


def require_profile(profile, *case):
    """Likewise in another profile."""
    if profile != PROFILE:
        _not_applicable(case, f"it is measured in the {profile} profile alone")


def _not_applicable(case, reason):
    context = os.environ.get("PCBENCH_CONTEXT")
    if context:
        named = f"{os.environ.get('PCBENCH_BENCHMARK', 'unnamed')}({', '.join(case)})"
        with Path(context).open("a") as file:
            file.write(json.dumps({"case": named, "status": "UNAVAILABLE", "reason": reason}) + "\n")
    raise NotImplementedError(reason)


def samples():
    """How many processes give the samples of a case."""
    if ONE_SAMPLE:
        return tracking.SampleCounts(cold=1, warm=1)
    return (
        tracking.SampleCounts(cold=5, warm=7)
        if PROFILE == "full" and not FEW
        else tracking.SampleCounts(cold=1, warm=3)
    )
