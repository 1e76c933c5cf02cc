"""Names from file names, without an import; and loading one of them: the only extension mechanism.

A model, strategy, kernel, report or command is one file that ends with one constant, for example
``MODEL = Model(...)`` in ``pcbench/models/mlp.py``. The file's name is the public name.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from pcbench.errors import ExtensionError, UnavailableError, UsageError

T = TypeVar("T")

_PACKAGE = Path(__file__).parent
_FORM = "package.module:function"
_MODULE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)+")
_OR_FUNCTIONS = ("kernel", "model")


def names(folder: Path) -> tuple[str, ...]:
    """The public names in ``folder``: its Python files, sorted, without those that start with an underscore."""
    return tuple(sorted(p.stem for p in folder.glob("*.py") if not p.stem.startswith("_")))


def model_names() -> tuple[str, ...]:
    """Names of the models that come with pcbench."""
    return names(_PACKAGE / "models")


def strategy_names() -> tuple[str, ...]:
    """Names of the strategies that come with pcbench."""
    return names(_PACKAGE / "strategies")


def check_name(kind: str, name: str, known: tuple[str, ...]) -> str:
    """Return ``name`` if it is known.

    Raises:
        UsageError: It is not; the error lists the valid names and the nearest one, or how a module's function is named.
    """
    if name in known:
        return name
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    if kind in _OR_FUNCTIONS and _MODULE.fullmatch(name):
        hint = f"write {name}:FUNCTION for a function of that module; "
    raise UsageError(f"there is no {kind} {name!r}", hint=f"{hint}valid names: {', '.join(known)}")


def load(package: str, name: str, constant: str, kind: type[T]) -> T:
    """Import ``package.name`` and return the constant it ends with.

    Raises:
        ExtensionError: The file raised on import, or lacks the constant.
        UnavailableError: The file said on import that this installation lacks what it needs.
    """
    module = _import(f"{package}.{name}", lambda: importlib.import_module(f"{package}.{name}"))
    return _constant(module, constant, kind)


def load_file(path: Path, constant: str, kind: type[T]) -> T:
    """Import a file by its path and return the constant it ends with.

    The module's name depends on the file's name alone, so that a class pickled in one process is found in another.
    The file's folder is importable while its process lasts, for the modules beside it.

    Raises:
        UsageError: There is no such file.
        ExtensionError: The file raised on import, or lacks the constant.
    """
    if not path.is_file():
        raise UsageError(f"there is no file {path}", hint="give a path to a Python file")
    name = f"pcbench_target_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is not a Python file", hint="its name must end in .py")
    _make_importable(path.resolve().parent)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    loader = spec.loader
    _import(str(path), lambda: loader.exec_module(module))
    return _constant(module, constant, kind)


def load_function(target: str, folder: Path) -> Callable[..., Any]:
    """The function that ``package.module:function`` names, likewise.

    Raises:
        UsageError, ExtensionError: As :func:`load_member`, or it is no function.
    """
    found = load_member(target, folder)
    if not callable(found):
        raise UsageError(f"{target} is of type {type(found).__name__}, no function")
    return found  # type: ignore[no-any-return]  # a module attribute: checked callable above


def load_member(target: str, folder: Path) -> Any:
    """What ``package.module:function`` names, whatever it is; ``folder`` is importable for it.

    Raises:
        UsageError: The target has another form, or the module has nothing of that name.
        ExtensionError: The module raised on import.
    """
    module_name, _, member = target.partition(":")
    if not module_name or not member or module_name.endswith(".py") or "/" in module_name:
        raise UsageError(f"{target!r} is not of the form {_FORM}", hint=_written(module_name, member, folder))
    _make_importable(folder.resolve())
    try:
        module = _import(module_name, lambda: importlib.import_module(module_name))
    except ExtensionError as error:
        cause = error.__cause__
        if isinstance(cause, ModuleNotFoundError) and f"{module_name}.".startswith(f"{cause.name}."):
            raise UsageError(f"there is no module {cause.name}", hint=f"it is looked for in {folder}, too") from None
        raise
    if not hasattr(module, member):
        near = difflib.get_close_matches(member, [name for name in vars(module) if not name.startswith("__")], n=1)
        hint = f"did you mean {near[0]!r}?" if near else None
        raise UsageError(f"module {module_name} has no function {member!r}", hint=hint)
    return getattr(module, member)


def _written(module: str, member: str, folder: Path) -> str | None:
    """How a function is to be named of which a path was given, or no name; None where nothing was."""
    file, top = (folder / module).resolve(), folder.resolve()
    if module and file != top and file.is_relative_to(top):
        dotted = ".".join(file.relative_to(top).parts).removesuffix(".py").removesuffix(".__init__")
        return f"write {dotted}:{member or 'FUNCTION'}"
    return f"write {_FORM} in the folder that its package is in" if module else None


def _make_importable(folder: Path) -> None:
    # The folder that holds pcbench itself also holds kernels/, which must never be importable under that name.
    if folder != _PACKAGE.parent and str(folder) not in sys.path:
        sys.path.append(str(folder))


def _import(what: str, run: Callable[[], T]) -> T:
    try:
        return run()
    except UnavailableError:
        raise
    except (Exception, SystemExit) as error:  # a stranger's file may raise anything: it is said first, with its place
        frames = traceback.extract_tb(error.__traceback__)
        place = next((f for f in reversed(frames) if "importlib" not in f.filename), frames[-1])
        raise ExtensionError(
            f"{type(error).__name__}: {error}", hint=f"raised by {place.filename}:{place.lineno} while importing {what}"
        ) from error


def _constant(module: Any, constant: str, kind: type[T]) -> T:
    value = getattr(module, constant, None)
    if isinstance(value, kind):
        return value
    found = "is missing" if value is None else f"is a {type(value).__name__}"
    raise ExtensionError(
        f"{module.__file__}: {constant} {found}",
        hint=f"end the file with the line: {constant} = {kind.__name__}(...)",
    )
