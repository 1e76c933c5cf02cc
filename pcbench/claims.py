"""Claims of documents: which there are, and what became of each. Needs neither torch nor an import of a claim.

A claim is a public function of a module in ``pcbench/contract``: see there. It is found by reading the module's source.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from pcbench import discovery
from pcbench.errors import ExtensionError

SCHEMA = 1

_FOLDER = Path(__file__).parent / "contract"


class ClaimOutcome(StrEnum):
    """What became of a claim."""

    HOLDS = "holds"
    """Its program saw what the document says."""
    DIFFERS = "differs"
    """Its program saw something else; the evidence says what."""
    UNAVAILABLE = "unavailable"
    """This installation lacks what the claim is about; the evidence says what."""
    CRASHED = "crashed"
    """Its program ended otherwise: by a signal, at the time limit, by an error. Nothing is known of the claim."""


@dataclass(frozen=True)
class Claim:
    """A sentence of a document that a program can find broken.

    Attributes:
        id: ``module.function``: it stays when claims before it come or go.
        number: Its place among the claims of the document.
        text: The claim in our own words, one line.
        program: Its function, as ``package.module.function``.
    """

    id: str
    document: str
    number: int
    text: str
    program: str


@dataclass(frozen=True)
class ClaimResult:
    """What became of a claim on one torch build.

    Attributes:
        claim: The claim's text.
        evidence: What was seen, one line.
    """

    id: str
    document: str
    claim: str
    outcome: ClaimOutcome
    evidence: str


@dataclass(frozen=True)
class Checked:
    """The claims as one torch build keeps them.

    Attributes:
        name: What people call the build.
        torch, torch_git: None where ``problem`` says why torch could not even be asked.
    """

    name: str
    torch: str | None
    torch_git: str | None
    results: tuple[ClaimResult, ...] = ()
    problem: str | None = None

    def result(self, claim_id: str) -> ClaimResult | None:
        """What became of a claim here; None where it was not checked."""
        return next((result for result in self.results if result.id == claim_id), None)

    def count(self, outcome: ClaimOutcome) -> int:
        """How many claims had this outcome."""
        return sum(result.outcome is outcome for result in self.results)


def claims(folder: Path = _FOLDER, package: str = "pcbench.contract") -> tuple[Claim, ...]:
    """The claims in a package's folder, by document, module and place in the module.

    Raises:
        ExtensionError: A module states no document, or a claim has no docstring.
    """
    found: dict[str, list[Claim]] = {}
    for name in discovery.names(folder):
        path = folder / f"{name}.py"
        tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
        document = _document(tree, path)
        listed = found.setdefault(document, [])
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                text = _text(node, path)
                program = f"{package}.{name}.{node.name}"
                listed.append(Claim(f"{name}.{node.name}", document, len(listed) + 1, text, program))
    return tuple(claim for document in sorted(found) for claim in found[document])


def _document(tree: ast.Module, path: Path) -> str:
    for node in tree.body:
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["DOCUMENT"]:
            return str(ast.literal_eval(node.value))
    raise ExtensionError(f"{path}: DOCUMENT is missing", hint='add the line: DOCUMENT = "load_compiled_function"')


def _text(function: ast.FunctionDef, path: Path) -> str:
    said = ast.get_docstring(function)
    if not said:
        raise ExtensionError(
            f"{path}:{function.lineno}: claim {function.name} has no docstring", hint="its docstring is the claim"
        )
    return " ".join(said.partition("\n\n")[0].split())


def to_json(checked: Sequence[Checked]) -> dict[str, Any]:
    """One build as an object, with its problem if it has one; several as a list of such objects, each with its name."""
    builds = [
        {
            "schema": SCHEMA,
            "torch": build.torch,
            "torch_git": build.torch_git,
            "claims": [asdict(result) for result in build.results],
        }
        for build in checked
    ]
    if len(builds) == 1:
        problem = checked[0].problem
        return builds[0] if problem is None else builds[0] | {"problem": problem}
    named = [{"name": build.name, "problem": build.problem} | told for build, told in zip(checked, builds, strict=True)]
    return {"schema": SCHEMA, "builds": named}
