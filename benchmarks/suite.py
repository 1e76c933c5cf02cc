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


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("[!_]*.py"))


def _names(folder: str) -> list[str]:
    return [file.stem for file in _files(_PACKAGE / folder)]


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


def _launches(folder: Path) -> tuple[list[str], dict[str, str]]:
    """Every kernel at each of its sizes and dtypes, as ``softmax float16 rows=4096 columns=1024``, from its source.

    Of a kernel whose file does not have them written out, the name alone; and these names, with the reason.
    """
    found, unlisted = [], {}
    for file in _files(folder):
        try:
            found += [f"{file.stem} {launch}" for launch in _written_out(file)]
        except ValueError as error:
            found.append(file.stem)
            unlisted[file.stem] = str(error)
    return found, unlisted


def _written_out(file: Path) -> list[str]:
    """``float16 rows=4096 columns=1024`` and the like, at least one.

    Raises:
        ValueError: They are not written out.
    """
    try:
        body = ast.parse(file.read_text(encoding="utf-8")).body
    except SyntaxError as error:
        raise ValueError(f"{file} is not Python: {error}") from error
    for node in body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets) == "KERNEL":
            break
    else:
        raise ValueError(f"{file} does not end in KERNEL = Kernel(...)")
    given = {word.arg: word.value for word in getattr(node.value, "keywords", ())}
    try:
        shapes = ast.literal_eval(given["shapes"])
        sizes = [" ".join(f"{extent}={size}" for extent, size in shape.items()) for shape in shapes]
        dtypes = [_dtype(value) for value in given["dtypes"].elts]
        if not sizes or not dtypes:
            raise ValueError("one of them is empty")
    except (KeyError, AttributeError, TypeError, ValueError) as error:
        raise ValueError(
            f"{file} has to write out its shapes and dtypes in KERNEL = Kernel(...), as "
            f'shapes=({{"rows": 4096}},), dtypes=(torch.float16,): {type(error).__name__}: {error}'
        ) from error
    return [f"{dtype} {shape}" for shape in sizes for dtype in dtypes]


def _dtype(value) -> str:
    written = ast.unparse(value)
    if not written.startswith("torch."):
        raise TypeError(f"{written} is not of the form torch.float16")
    return written.removeprefix("torch.")


_KERNEL_FOLDER = _PACKAGE.parent / "kernels"
KERNELS = [file.stem for file in _files(_KERNEL_FOLDER)]
CHIPS = ["sm_90", "sm_100", *(["sm_80", "gfx942"] if PROFILE == "full" else [])]
LAUNCHES, UNLISTED = _launches(_KERNEL_FOLDER)
PAIRS = 1 if ONE_SAMPLE else 10 if FEW else 30  # samples of a launch, and of torch's own, in one process
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


def require_listed(launch):
    """Likewise a kernel of which nobody can tell where it is to be launched."""
    if launch in UNLISTED:
        _not_applicable((launch,), UNLISTED[launch])


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
