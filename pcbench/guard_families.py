"""Names of the guard families, without an import of one. For both halves; needs no torch.

A family is a public function of a module in ``pcbench/guards/families``: of a size n, it gives a function with about n
guards of one kind. Its docstring says which. It is found by reading the module's source.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pcbench import discovery
from pcbench.errors import ExtensionError

_FOLDER = Path(__file__).parent / "guards" / "families"


@dataclass(frozen=True)
class Family:
    """A kind of guard.

    Attributes:
        text: What it is, one line.
        program: Its function, as ``package.module.function``.
    """

    name: str
    text: str
    program: str


@cache
def families(folder: Path = _FOLDER, package: str = "pcbench.guards.families") -> tuple[Family, ...]:
    """The families, by module and place in it.

    Raises:
        ExtensionError: One has no docstring, or two have one name.
    """
    found: dict[str, Family] = {}
    for module in discovery.names(folder):
        path = folder / f"{module}.py"
        for node in ast.parse(path.read_text(encoding="utf-8"), str(path)).body:
            if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
                continue
            said = ast.get_docstring(node)
            if not said:
                raise ExtensionError(
                    f"{path}:{node.lineno}: family {node.name} has no docstring", hint="say what it is"
                )
            if node.name in found:
                raise ExtensionError(f"{path}:{node.lineno}: there is another family {node.name}", hint="rename one")
            text = " ".join(said.partition("\n\n")[0].split())
            found[node.name] = Family(node.name, text, f"{package}.{module}.{node.name}")
    return tuple(found.values())


def names() -> tuple[str, ...]:
    """Names of the families."""
    return tuple(family.name for family in families())


def family(name: str) -> Family:
    """The family of this name.

    Raises:
        UsageError: There is none.
    """
    discovery.check_name("guard family", name, names())
    return next(family for family in families() if family.name == name)


def is_target(target: str) -> bool:
    """Whether this is a model, a family, or a file or a function, which are looked at where they are imported."""
    return target.endswith(".py") or ":" in target or target in (*discovery.model_names(), *names())


def check_target(target: str) -> None:
    """Refuse what is no target.

    Raises:
        UsageError: It is a word that names neither a model nor a family.
    """
    if not is_target(target):
        discovery.check_name("model or guard family", target, (*discovery.model_names(), *names()))
