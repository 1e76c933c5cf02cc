"""Where kernels come from: the running pcbench, a commit or another folder; and their rows, measured or from a file."""

from __future__ import annotations

import difflib
import importlib.util
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pcbench
from pcbench import codegen_asking, discovery, side_trees
from pcbench.analysis import parsing
from pcbench.analysis.codegen_rows import CodegenRow, is_file, is_function, read_row, read_rows
from pcbench.asking import Setting
from pcbench.commands import _codegen_triton
from pcbench.commands._codegen_arguments import DIFF, Asked
from pcbench.commands._progress import Step
from pcbench.errors import PcbenchError, ResultsError, UsageError

_PACKAGE = "pcbench_kernels"
_FOLDER = "kernels"
_RANGE = re.compile(r"(.*[^./])\.{2,3}([^./].*)")
"""What git takes for two commits: ``HEAD~1..HEAD``."""


@dataclass(frozen=True)
class Code:
    """Kernels, and how a process imports them.

    Attributes:
        label: What people call them.
        names: Those of the folder ``kernels``, or the one file that it is.
        folder: Where files and modules are looked for.
        path: Folders that come first where a process imports from; none for the running pcbench's kernels.
        triton: The version that compiles them; None for the installed one.
        alone: Whether it is one file, a side by itself.
    """

    label: str
    names: tuple[str, ...]
    folder: Path
    path: tuple[Path, ...] = ()
    triton: str | None = None
    alone: bool = False

    def has(self, kernel: str) -> bool:
        """Whether it has a kernel of this name; of a function, that is seen when it is imported."""
        if self.alone:
            return kernel in self.names
        if is_file(kernel):
            return (self.folder / kernel).is_file()
        return is_function(kernel) or kernel in self.names


def running(triton: str | None = None) -> Code:
    """The kernels of the running pcbench; files and modules are looked for in the current folder."""
    label = "the working code" if triton is None else f"triton {triton}"
    return Code(label, discovery.names(_own_kernels()), Path.cwd(), triton=triton)


def of_file(file: str, triton: str | None = None) -> Code:
    """The kernel that a file ends in, which is a side by itself."""
    return Code(file, (file,), Path.cwd(), triton=triton, alone=True)


def of_tree(root: Path, what: str, scratch: Path, triton: str | None = None) -> Code:
    """The kernels of a commit of the repository in ``root``, or of another folder.

    Args:
        scratch: An empty folder for what is checked out; it lasts as long as the processes.

    Raises:
        UsageError: It is neither.
        PcbenchError: It cannot be checked out.
    """
    whole = side_trees.resolve(root, what)
    if whole is not None:
        tree = side_trees.checked_out(root, whole, scratch / "tree")
        label = whole[:8] if whole.startswith(what) else f"{what} ({whole[:8]})"
    elif Path(what).is_dir():
        tree, label = Path(what).resolve(), what
    else:
        raise UsageError(f"there is no side {what}", hint=_meant(root, what))
    names = discovery.names(tree / _FOLDER) if (tree / _FOLDER / "__init__.py").is_file() else ()
    links = scratch / "packages"
    links.mkdir()
    (links / "pcbench").symlink_to(Path(pcbench.__file__).resolve().parent, target_is_directory=True)
    # A tree without kernels of ours may have others: those need the package for what they end in.
    kernels = tree / _FOLDER if names else _own_kernels()
    (links / _PACKAGE).symlink_to(kernels, target_is_directory=True)
    return Code(label, names, tree, (links,), triton)


def two_words(what: str) -> str | None:
    """How a range of commits is written for diff; None of what is no range."""
    found = _RANGE.fullmatch(what)
    return f"write two words: pcbench codegen {DIFF} {found[1]} {found[2]}" if found else None


def _meant(root: Path, what: str) -> str:
    """What to write in place of a word that is no side."""
    kernels = {*discovery.names(_own_kernels()), *discovery.names(root / _FOLDER)}
    if what in kernels or is_function(what):
        return f"the two sides come before the kernels: pcbench codegen {DIFF} A B {what}"
    sides = "a side is a JSON file that --json wrote, a commit of the repository here, a folder, or a kernel's file"
    return two_words(what) or sides


def rows_of_file(path: Path, asked: Asked) -> tuple[CodegenRow, ...]:
    """The rows of a JSON file that were asked for.

    Raises:
        UsageError: It cannot be read, or has not what was asked for.
    """
    try:
        text = parsing.read_text(path)
    except ResultsError as error:
        raise UsageError(f"{path} {error.problem}") from error
    rows = read_rows(text, str(path))
    if asked.kernels:
        rows = tuple(row for row in rows if row.key.kernel in asked.kernels)
    if asked.targets:
        rows = tuple(row for row in rows if row.key.target in ("", *asked.targets))
    return rows


def check_kernels(kernels: Sequence[str], *places: Code) -> None:
    """Refuse a kernel that none of the places has.

    Raises:
        UsageError: One is nowhere, or is a path that a commit cannot have.
    """
    for kernel in kernels:
        if is_file(kernel) and Path(kernel).is_absolute() and any(place.path for place in places):
            raise UsageError(f"{kernel} is the same file on both sides", hint="give its path from the current folder")
        if any(place.has(kernel) for place in places):
            continue
        if is_file(kernel):
            raise UsageError(f"there is no file {kernel} in {' or '.join(place.label for place in places)}")
        known = tuple(dict.fromkeys(name for place in places for name in place.names))
        if not known:
            raise UsageError(f"there is no kernel {kernel!r}: {places[0].label} has none")
        if difflib.get_close_matches(kernel, (*known, DIFF), n=1) == [DIFF]:
            raise UsageError(f"there is no kernel {kernel!r}", hint=f"did you mean `pcbench codegen {DIFF} A B`?")
        discovery.check_name("kernel", kernel, known)


def fetch(code: Code, step: Step) -> None:
    """Have the place's Triton at hand, which pip fetches where it is not.

    Raises:
        PcbenchError: It cannot be had.
    """
    if code.triton is not None:
        _codegen_triton.folder_of(code.triton, step)


def measure(
    code: Code, kernels: Sequence[str], asked: Asked, step: Step, on_row: Callable[[CodegenRow], None]
) -> tuple[CodegenRow, ...]:
    """Compile what the place has of the kernels; ``on_row`` is given each row as soon as it is there.

    Raises:
        PcbenchError: Its Triton cannot be had, or another one compiled.
    """
    wanted = [kernel for kernel in kernels if code.has(kernel)]
    if not wanted:
        return ()
    folder = None if code.triton is None else _codegen_triton.folder_of(code.triton, step)
    setting = Setting("", threads=1, timeout_s=asked.timeout_s, cwd=code.folder, env=_environment(code, folder, wanted))
    said = ""

    def stage(what: str) -> None:
        nonlocal said
        if what != said:
            step(f"{code.label}: {what}")
        said = what

    def row(told: Mapping[str, object]) -> CodegenRow:
        found = read_row(told, f"a row of {code.label}")
        if code.triton is not None and found.triton not in ("", code.triton):
            raise PcbenchError(f"triton {code.triton} was to compile {found.key}, and triton {found.triton} did")
        return found

    collected = codegen_asking.collect(
        setting,
        wanted,
        asked.chips,
        asked.configs or "first",
        lambda told: on_row(row(told)),
        stage,
        signature=asked.signature,
        constexprs=asked.constexprs,
        assembly=asked.assembly,
    )
    return tuple(map(row, collected))


def steps_of(code: Code, kernels: Sequence[str], asked: Asked) -> int:
    """How many steps measuring a place takes at most: torch, and each kernel that it has, loaded and then compiled for
    each target."""
    there = sum(code.has(kernel) for kernel in kernels)
    return 1 + there * (1 + len(asked.chips)) if there else 0


def _environment(code: Code, triton: Path | None, kernels: Sequence[str]) -> dict[str, str | None]:
    """What a process needs to import these kernels with this Triton, and nothing of an installed one."""
    places = [*([triton] if triton else []), *code.path]
    if code.path and any(is_file(kernel) or is_function(kernel) for kernel in kernels):
        places.append(code.folder)  # else modules that are installed from the working tree would stand for the commit's
    if not places:
        return {}
    path = os.pathsep.join(filter(None, (*map(str, places), os.environ.get("PYTHONPATH"))))
    checked = {"PCBENCH_CHECKOUT": str(code.path[0])} if code.path else {}
    return {"PYTHONPATH": path, "PYTHONHOME": None, **checked}


def _own_kernels() -> Path:
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise PcbenchError(f"the running pcbench has no {_PACKAGE}", hint="install it whole")
    return Path(spec.origin).resolve().parent
