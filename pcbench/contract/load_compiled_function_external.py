"""``external_data`` of ``torch.compiler.load_compiled_function``: what a saved function needs and does not carry."""

from __future__ import annotations

import tempfile
from pathlib import Path

import torch

from pcbench.contract import expect, promised, refused
from pcbench.contract._functions import ONES, SCALED, compiled, load, module, saved
from pcbench.strategies import one_line

DOCUMENT = "load_compiled_function"

_OVER_A_MODEL = """
def over(model):
    def f(x):
        return model(x)
    return f
"""


def _furthest(left: torch.Tensor, right: torch.Tensor) -> float:
    return (left - right).abs().max().item()


def external_data_makes_the_round_trip() -> str:
    """What is given as external_data when saving is given again when loading, and then the function works."""
    model = torch.nn.Linear(3, 3).eval()
    data = saved(module(_OVER_A_MODEL).over(model), ONES, external_data={"model": model})
    with promised("loading with the same external_data"):
        loaded = load(data, external_data={"model": model})
        difference = _furthest(loaded(ONES), model(ONES))
    expect(difference == 0, f"the answer is {difference} off the model's")
    return "a function over a model, saved and loaded with it as external data, gives the model's answer"


def external_data_is_loaded_into_the_function() -> str:
    """external_data becomes part of the loaded function: it computes with what was given at the load."""
    model, other = torch.nn.Linear(3, 3).eval(), torch.nn.Linear(3, 3).eval()
    data = saved(module(_OVER_A_MODEL).over(model), ONES, external_data={"model": model})
    with promised("loading with another model of the same kind"):
        difference = _furthest(load(data, external_data={"model": other})(ONES), other(ONES))
    expect(difference == 0, f"the answer is {difference} off that of the model that was given at the load")
    return "the answer is that of the model given at the load"


def without_external_data_the_load_is_refused() -> str:
    """A function that was saved with external_data does not load without it; the error names what is missing."""
    model = torch.nn.Linear(3, 3).eval()
    data = saved(module(_OVER_A_MODEL).over(model), ONES, external_data={"model": model})
    with refused("a load with external_data of another name", RuntimeError, saying="model"):
        load(data, external_data={"other": model})
    with refused("a load without external_data", RuntimeError, saying="model") as caught:
        load(data)
    return one_line(caught[0])


def what_needs_external_data_is_not_saved_without_it() -> str:
    """What cannot be put into the file must be named as external_data: else saving is refused."""
    model = torch.nn.Linear(3, 3).eval()
    with refused("saving a function over a model", RuntimeError, saying="external_data") as caught:
        saved(module(_OVER_A_MODEL).over(model), ONES)
    return one_line(caught[0])


def saving_returns_the_external_data() -> str:
    """save_compiled_function returns a result whose external_data is what the load is to be given."""
    function = compiled(module(SCALED).f, ONES)
    with tempfile.TemporaryDirectory() as folder:
        result = function.save_compiled_function(str(Path(folder) / "function.bin"))
    fields = sorted(name for name in vars(result) if not name.startswith("_"))
    expect(
        hasattr(result, "external_data"),
        f"the result is a {type(result).__name__} of {', '.join(fields)}: it has no external_data",
    )
    return "the result has it"
