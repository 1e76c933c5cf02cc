"""The models of transformers: what they say without it, and what their output classes need."""

from __future__ import annotations

import sys

import expectations
import pytest
import torch
import transformers

import pcbench
from pcbench import discovery, pytrees, targets
from pcbench.errors import UnavailableError
from pcbench.models import Model
from pcbench.runner import agreement


def zoo(name: str) -> Model:
    return discovery.load("pcbench.models", name, "MODEL", Model)


@pytest.mark.parametrize("name", expectations.ZOO)
def test_a_model_of_the_zoo_is_unavailable_without_transformers(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    monkeypatch.delitem(sys.modules, f"pcbench.models.{name}", raising=False)

    with pytest.raises(UnavailableError, match=rf"model {name} needs transformers.*pip install 'pcbench\[zoo\]'"):
        zoo(name)


@pytest.mark.parametrize("name", expectations.ZOO)
def test_a_model_of_the_zoo_gives_an_output_class_that_another_process_can_import(name: str) -> None:
    args, kwargs = targets.inputs(zoo(name))
    with torch.no_grad():
        output = targets.build(zoo(name))(*args, **kwargs)

    (written,) = pytrees.register(output)
    assert written.startswith("transformers.modeling_outputs:")
    pytrees.register_named([written])
    assert all(tensor.shape[0] == 2 for tensor in pytrees.tensors(output))
    assert agreement.difference(output, output) is None


@pytest.mark.parametrize("name", expectations.ZOO)
def test_a_model_of_the_zoo_is_small_and_padding_changes_its_answer(name: str) -> None:
    model = targets.build(zoo(name))
    _, kwargs = targets.inputs(zoo(name))
    with torch.no_grad():
        padded, whole = (model(kwargs["input_ids"], attention_mask=m) for m in (kwargs["attention_mask"], None))

    assert sum(p.numel() for p in model.parameters()) < 200_000
    assert agreement.difference(whole, padded) is not None


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_the_cache_of_runners_takes_the_mapping_that_transformers_makes_and_gives_its_output_class() -> None:
    model = targets.build(zoo("bert"))
    _, kwargs = targets.inputs(zoo("bert"))
    batch = transformers.BatchEncoding(kwargs)
    cache = pcbench.ModelRunnerCache(strategy="export")
    with torch.no_grad():
        runner = cache.load(model, batch)
        expected, answer = model(**batch), runner(**batch)

        assert cache.load(model, batch) is runner
    assert not isinstance(batch, dict)
    assert type(answer) is type(expected)
    assert agreement.difference(expected, answer) is None
