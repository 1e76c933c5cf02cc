"""The census of guards: everything is counted, and what changes is seen."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from pcbench import guard_sampling, torch_api
from pcbench.asking import Setting
from pcbench.guard_samples import Census
from pcbench.guards import census, subjects
from pcbench.guards.guarded import Guarded

HOME = Path(__file__).parent


class Layers(nn.Module):
    """Layers, each with an attribute that the forward reads; ``more`` is read where it is not None."""

    def __init__(self, layers: int, more: float | None = None) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer(number, more if number == layers // 2 else None) for number in range(layers))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


class Layer(nn.Module):
    def __init__(self, number: int, more: float | None) -> None:
        super().__init__()
        self.scale = number + 0.5
        self.linear = nn.Linear(2, 2)
        if more is not None:
            self.more = more

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if hasattr(self, "more"):
            x = x * self.more
        return self.linear(x) * self.scale


def taken(guarded: Guarded, **config: Any) -> Census:
    torch._dynamo.reset()
    with torch_api.get("dynamo_config").patch(**config), subjects.compiled(guarded) as subject:
        return census.census(subject)


def of_model(model: nn.Module, **config: Any) -> Census:
    return taken(Guarded(model, (torch.ones(1, 2),)), **config)


def test_every_guard_is_counted_once_in_total_by_type_and_by_language() -> None:
    counts = of_model(Layers(3)).counts

    by_type = {entry: count for entry, count in counts.items() if entry.startswith("guards: ")}
    assert counts["guards"] == sum(by_type.values()) == counts["guards in Python"] + counts["guards in C++"]
    assert by_type["guards: TENSOR_MATCH"] == 7  # an input, and a weight and a bias for each layer
    assert counts["managers"] == sum(count for entry, count in counts.items() if entry.startswith("managers: "))
    assert counts["accessors"] == sum(count for entry, count in counts.items() if entry.startswith("accessors: "))


def test_torch_s_own_metrics_are_those_of_this_compilation_or_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (of_model(Layers(3)) for _ in range(2))
    assert first.counts["metrics: guard_count"] == second.counts["metrics: guard_count"] > 0

    unknown: dict[str, str] = {}
    monkeypatch.setattr(torch_api, "get", {"compilation_metrics": lambda: []}.get)
    census._count_metrics(1, Counter(), unknown)
    assert unknown["metrics: guard_count"] == "torch kept metrics of 0 of 1 compilations"


def test_the_places_hold_every_guard_of_the_counts() -> None:
    found = of_model(Layers(3))

    assert sum(len(place.guards) for place in found.places.values()) == found.counts["guards"]
    assert len(found.places) == found.counts["managers"]
    assert any("._modules['layers']" in source and "TYPE_MATCH" in p.guards for source, p in found.places.items())


def test_a_question_that_a_later_torch_answers_is_counted_without_being_known_here() -> None:
    class Manager:
        def is_swift(self) -> bool:
            return True

        def has_wheels(self) -> bool:
            return False

        def is_like(self, other: object) -> bool:
            raise AssertionError(other)

        def has_legs(self) -> int:
            return 2

        def mark_swift(self) -> None:
            raise AssertionError("it was asked to change")

    unknown: dict[str, str] = {}
    assert census._answers(Manager(), unknown) == {"is_swift": True, "has_wheels": False}
    assert set(unknown) == {"answers: is_like", "answers: has_legs"}
    assert "argument" in unknown["answers: is_like"]


def test_guard_code_is_measured_without_what_differs_from_process_to_process() -> None:
    one = "___check_obj_id(G['__import_a'], 140097253401472) at 0x7f6a257289f0 "
    one += "__compiled_fn_1_76e0efea_3d80_4478_8347_358b69f73c5f"
    other = "___check_obj_id(G['__import_a'], 99712345678) at 0x5f __compiled_fn_1_11111111_2222_3333_4444_555555555555"

    assert census.normalised(one) == census.normalised(other)
    assert census.normalised("G['__builtins_dict___0']['len']") == census.normalised("G['__builtins_dict___12']['len']")
    assert census.normalised("x.size()[0] == 1024") == "x.size()[0] == 1024"


def test_one_more_guard_on_a_model_of_300_is_seen_and_is_one() -> None:
    plain, planted = of_model(Layers(20)), of_model(Layers(20, more=2.0))

    assert plain.counts["guards"] >= 300
    (where,) = [source for source, place in planted.places.items() if source.endswith(".more") and place.guards]
    assert "['10']" in where
    assert planted.counts["guards: EQUALS_MATCH"] == plain.counts["guards: EQUALS_MATCH"] + 1


def test_a_guard_that_moves_from_cpp_to_python_is_seen() -> None:
    shared = nn.Linear(2, 2)
    model = nn.Sequential(shared, shared)
    inline, as_lambda = (of_model(model, use_lamba_guard_for_object_aliasing=on) for on in (False, True))

    assert as_lambda.counts["guards in Python"] == inline.counts["guards in Python"] + 1
    assert as_lambda.counts["epilogue guards"] == inline.counts["epilogue guards"] + 1
    assert inline.counts["guards: OBJECT_ALIASING"] > as_lambda.counts.get("guards: OBJECT_ALIASING", 0) == 0


def test_a_flag_that_stops_working_is_seen() -> None:
    on, off = (of_model(Layers(3), use_recursive_dict_tags_for_guards=flag) for flag in (True, False))

    assert on.counts["answers: is_tag_safe"] > off.counts["answers: is_tag_safe"]


def test_a_graph_break_makes_two_frames_whose_guards_are_counted_together() -> None:
    def broken(x: torch.Tensor) -> torch.Tensor:
        x = x + 1
        torch._dynamo.graph_break()
        return x * 2

    found = taken(Guarded(broken, (torch.ones(2),)))

    assert found.counts["frames"] == 2
    assert found.counts["guards: GLOBAL_STATE"] == 2
    assert "L['x'] #2" in found.places


def test_two_processes_with_different_hash_seeds_take_the_same_census() -> None:
    found = guard_sampling.census(Setting("mlp", threads=1, cwd=HOME))

    assert found.differing == {}
    assert found.torch == torch.__version__
    assert found.census.counts["guards"] > 20


def test_a_census_that_depends_on_the_hash_seed_says_what_differs(tmp_path: Path) -> None:
    (tmp_path / "seeded.py").write_text(
        "import torch\nfrom pcbench.models import Model\n"
        "class Seeded(torch.nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.numbers = list(range(1 + hash('pcbench') % 97))\n"
        "    def forward(self, x):\n"
        "        return x + sum(self.numbers)\n"
        "MODEL = Model(build=Seeded, inputs=lambda: ((torch.ones(1),), {}))\n"
    )
    found = guard_sampling.census(Setting("seeded.py", threads=1, cwd=tmp_path))

    assert "guards" in found.differing
    one, other = found.differing["guards"]
    assert one != other


@pytest.mark.slow
def test_twenty_processes_of_unchanged_code_take_one_census() -> None:
    found = [guard_sampling.census(Setting("mlp", threads=1, cwd=HOME)) for _ in range(10)]

    assert all(one.differing == {} and one.census == found[0].census for one in found)
