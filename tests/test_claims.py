"""Claims: finding them in source, and what becomes of one in a process of its own, however it ends."""

from __future__ import annotations

import fcntl
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from pcbench import claim_checking, claims, processes
from pcbench.asking import Setting
from pcbench.claims import ClaimOutcome, ClaimResult
from pcbench.contract import DiffersError, _checking, expect, promised, refused
from pcbench.errors import ExtensionError, UnavailableError

TOYS = '''
import atexit
import ctypes
import fcntl
import subprocess

import torch
from pcbench.contract import expect, promised, refused
from pcbench.errors import UnavailableError

DOCUMENT = "toys"


def holds():
    """One and one
    is two.

    This is no part of it.
    """
    return f"it is {1 + 1},\\nby torch {torch.__version__}"


def differs():
    """One is two."""
    expect(1 == 2, "one is 1")


def unavailable():
    """There is a seventh dimension."""
    raise UnavailableError("this machine has three")


def raises():
    """Nothing is unforeseen."""
    return {}["the unforeseen"]


def says_nothing():
    """Silence is golden."""


def segfaults():
    """All memory is yours."""
    ctypes.string_at(0)


def answers_and_dies():
    """What was said stands."""
    atexit.register(ctypes.string_at, 0)
    return "it was said"


def exits():
    """All is well."""
    raise SystemExit(0)


def hangs():
    """All things end."""
    held = open("FOLDER/held", "w")
    fcntl.flock(held, fcntl.LOCK_EX)
    subprocess.run(["sh", "-c", "while true; do sleep 0.2; done"], pass_fds=(held.fileno(),))


def _helps():
    return "it is no claim"
'''


def written(folder: Path, source: str = TOYS) -> tuple[claims.Claim, ...]:
    (folder / "toy_claims").mkdir()
    (folder / "toy_claims" / "outcomes.py").write_text(source.replace("FOLDER", str(folder)))
    return claims.claims(folder / "toy_claims", "toy_claims")


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, ClaimResult]:
    folder = tmp_path_factory.mktemp("toys")
    known = {claim.id: claim for claim in written(folder)}
    setting = Setting("eager", threads=1, env={"PYTHONPATH": str(folder)})
    hanging = known.pop("outcomes.hangs")
    with processes.scratch() as caches:
        results = list(claim_checking.check_all(list(known.values()), setting, caches, jobs=2))
        limited = Setting("eager", threads=1, timeout_s=30, env={"PYTHONPATH": str(folder)})
        results.append(claim_checking.check(hanging, limited, caches))
    _wait_until_gone(folder / "held")
    return {result.id.partition(".")[2]: result for result in results}


def _wait_until_gone(held: Path) -> None:
    """Until no process of the group has the file locked; a process that nobody has reaped yet has it no more."""
    deadline = time.monotonic() + 30
    with held.open("r+") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                assert time.monotonic() < deadline, "what a program started goes on after it was killed"
                time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.xdist_group("test_claims")
@pytest.mark.parametrize(
    ("name", "outcome", "evidence"),
    [
        ("holds", ClaimOutcome.HOLDS, "it is 2, by torch"),
        ("differs", ClaimOutcome.DIFFERS, "one is 1"),
        ("unavailable", ClaimOutcome.UNAVAILABLE, "this machine has three"),
        ("raises", ClaimOutcome.CRASHED, "KeyError: 'the unforeseen' (line 35 of outcomes.py)"),
        ("says_nothing", ClaimOutcome.CRASHED, "it returned None instead of its evidence"),
        ("segfaults", ClaimOutcome.CRASHED, "at running segfaults: killed by SIGSEGV"),
        ("answers_and_dies", ClaimOutcome.CRASHED, "at running answers_and_dies: killed by SIGSEGV"),
        ("exits", ClaimOutcome.CRASHED, "at running exits: exited with 0"),
        ("hangs", ClaimOutcome.CRASHED, "still at running hangs after 30 s"),
    ],
)
def test_each_ending_of_a_program_has_its_outcome_and_evidence_of_one_line(
    checked: Mapping[str, ClaimResult], name: str, outcome: ClaimOutcome, evidence: str
) -> None:
    assert checked[name].outcome is outcome
    assert evidence in checked[name].evidence
    assert "\n" not in checked[name].evidence


def test_claims_are_found_without_an_import_with_their_first_paragraph_and_their_place(tmp_path: Path) -> None:
    known = written(tmp_path, "import a_module_that_there_is_not\n" + TOYS)

    assert [claim.number for claim in known] == list(range(1, 10))
    assert known[0] == claims.Claim("outcomes.holds", "toys", 1, "One and one is two.", "toy_claims.outcomes.holds")
    assert not any("_helps" in claim.id for claim in known)


def test_modules_of_one_document_are_numbered_together_and_private_ones_are_none(tmp_path: Path) -> None:
    for name in ("second", "first", "_private"):
        (tmp_path / f"{name}.py").write_text('DOCUMENT = "one"\n\n\ndef a():\n    """A."""\n')

    assert [(claim.number, claim.id) for claim in claims.claims(tmp_path)] == [(1, "first.a"), (2, "second.a")]


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ('def a():\n    """A."""\n', "DOCUMENT is missing"),
        ('DOCUMENT = "one"\n\n\ndef a():\n    pass\n', "claim a has no docstring"),
    ],
)
def test_a_malformed_file_is_told_with_what_it_lacks(tmp_path: Path, source: str, problem: str) -> None:
    (tmp_path / "malformed.py").write_text(source)

    with pytest.raises(ExtensionError, match=problem):
        claims.claims(tmp_path)


def test_every_claim_has_an_id_and_a_text_of_its_own_and_says_it_in_a_sentence() -> None:
    known = claims.claims()

    assert {claim.document for claim in known} <= {"load_compiled_function", "torch_compiler_api"}
    for counted in (Counter(claim.id for claim in known), Counter(claim.text for claim in known)):
        assert [each for each, times in counted.items() if times > 1] == []
    assert [claim.id for claim in known if not claim.text.endswith(".") or claim.text.endswith("..")] == []


def test_a_program_that_cannot_be_imported_tells_nothing_of_the_claim() -> None:
    outcome, evidence = _checking.outcome_of("pcbench.no_such_module.claim")

    assert outcome is ClaimOutcome.CRASHED
    assert "No module named 'pcbench.no_such_module'" in evidence


def test_what_a_promised_body_raises_is_the_difference_and_what_it_lacks_stays_unavailable() -> None:
    with pytest.raises(DiffersError, match="loading raised ValueError: no") as found, promised("loading"):
        raise ValueError("no")
    with pytest.raises(UnavailableError), promised("loading"):
        raise UnavailableError("no compiler")

    assert isinstance(found.value.__cause__, ValueError)


def test_an_error_that_opens_a_bracket_is_told_with_what_is_in_it() -> None:
    with pytest.raises(DiffersError, match=r"raised RuntimeError: failed \( size=0\)"), promised("loading"):
        raise RuntimeError("failed (\nsize=0)")


def test_a_refusal_counts_only_by_its_kind_and_its_words() -> None:
    with refused("it", ValueError, saying="too large") as caught:
        raise ValueError("7 is too large")
    with pytest.raises(DiffersError, match="was refused by another error: KeyError"), refused("it", ValueError):
        raise KeyError("seven")
    with pytest.raises(DiffersError, match="in other words"), refused("it", ValueError, saying="too large"):
        raise ValueError("no")
    with pytest.raises(DiffersError, match="it was not refused"), refused("it", ValueError):
        expect(True, "never")

    assert str(caught[0]) == "7 is too large"
