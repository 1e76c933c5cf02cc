"""Guard families by name: found by their source, without an import."""

from __future__ import annotations

from pathlib import Path

import pytest

from pcbench import guard_families
from pcbench.errors import ExtensionError, UsageError


def test_families_are_found_by_their_source_and_described_by_their_first_paragraph(tmp_path: Path) -> None:
    (tmp_path / "some.py").write_text(
        'raise SystemExit\n\ndef one(n):\n    """Guards on\n    one.\n\n    More."""\n\ndef _two(n): pass\n'
    )

    (family,) = guard_families.families(tmp_path, "a.package")

    assert (family.name, family.text, family.program) == ("one", "Guards on one.", "a.package.some.one")


def test_a_family_without_a_docstring_is_said_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "some.py").write_text("def one(n):\n    return n\n")

    with pytest.raises(ExtensionError, match=r"some.py:1: family one has no docstring \(say what it is\)"):
        guard_families.families(tmp_path)


def test_two_families_of_one_name_are_said_with_the_place_of_the_second(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text('def one(n):\n    """One."""\n')
    (tmp_path / "b.py").write_text('\n\ndef one(n):\n    """One again."""\n')

    with pytest.raises(ExtensionError, match=r"b.py:3: there is another family one"):
        guard_families.families(tmp_path)


def test_an_unknown_family_is_answered_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'tensors'"):
        guard_families.family("tensor")


def test_a_word_that_names_neither_a_model_nor_a_family_is_refused_and_a_file_is_not_looked_at() -> None:
    for target in ("mlp", "lists", "no/such.py", "no.module:function"):
        guard_families.check_target(target)

    with pytest.raises(UsageError, match="there is no model or guard family 'list'"):
        guard_families.check_target("list")
