from dataclasses import dataclass

import pytest
import torch
from torch.utils import _pytree as pytree

from pcbench import pytrees
from pcbench.errors import ArtifactError, UnavailableError


@dataclass
class Leaf:
    value: torch.Tensor


@dataclass
class Tree:
    leaf: Leaf
    more: dict[str, list[Leaf]]
    note: str


def tree() -> Tree:
    return Tree(Leaf(torch.zeros(1)), {"a": [Leaf(torch.ones(1)), Leaf(torch.full((1,), 2.0))]}, "note")


def test_tensors_are_found_through_unregistered_dataclasses_in_order() -> None:
    @dataclass
    class Local:
        inner: Leaf
        outer: torch.Tensor

    found = pytrees.tensors((Local(Leaf(torch.zeros(1)), torch.ones(1)), [torch.full((1,), 2.0)]))

    assert [t.item() for t in found] == [0.0, 1.0, 2.0]


def test_nested_dataclasses_are_registered_and_named_once() -> None:
    names = pytrees.register((tree(), {"k": tree()}))

    assert names == (f"{__name__}:Tree", f"{__name__}:Leaf")
    leaves = pytree.tree_leaves(tree())
    assert [leaf.item() if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves] == [0.0, 1.0, 2.0, "note"]


def test_registering_again_changes_nothing() -> None:
    assert pytrees.register(tree()) == pytrees.register(tree())


def test_names_are_registered_in_a_process_that_never_saw_the_value() -> None:
    pytrees.register_named([f"{__name__}:Leaf"])

    assert Leaf in pytree.SUPPORTED_NODES


def test_a_class_that_cannot_be_imported_is_an_artifact_error_that_names_it() -> None:
    with pytest.raises(ArtifactError, match="nowhere_at_all:Output"):
        pytrees.register_named(["nowhere_at_all:Output"])


def test_a_local_dataclass_is_refused_because_no_other_process_could_import_it() -> None:
    @dataclass
    class Local:
        value: torch.Tensor

    with pytest.raises(UnavailableError, match="Local is defined inside a function"):
        pytrees.register(Local(torch.ones(1)))
