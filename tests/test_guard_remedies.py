"""What would make a check cheaper: each filter and setting beside the default."""

from __future__ import annotations

import itertools
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import torch
from guarded_block import Block

from pcbench import timing, torch_api
from pcbench.guard_causes import FILTER, FLAG, read_remedy
from pcbench.guard_samples import CHECK, HIT, Census
from pcbench.guards import _flags, remedies
from pcbench.guards.guarded import Guarded
from pcbench.guards.request import Request


def test_the_filters_are_those_with_a_sentence_and_each_setting_is_the_other_way_round() -> None:
    found = list(remedies.variants())

    assert {variant.name for variant in found if variant.kind == FILTER} == set(_flags.FILTERS)
    for variant in found:
        if variant.kind == FLAG:
            ((setting, value),) = variant.config.items()
            assert getattr(torch_api.get("dynamo_config"), setting) is not value
            assert variant.name == f"{setting}={value}"
    assert "skip_nnmodule_hook_guards=False" in {variant.name for variant in found}


def test_a_filter_that_pcbench_does_not_know_is_described_in_torch_s_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def keep_few_unsafe(guard_entries: list[Any]) -> list[bool]:
        """Keep few guards on
        anything. Do not use it.

        More is said here.
        """
        return [False for _ in guard_entries]

    monkeypatch.setattr(torch.compiler, "keep_few_unsafe", keep_few_unsafe, raising=False)
    monkeypatch.setattr(torch.compiler, "keep_none_unsafe", lambda entries: [False for _ in entries], raising=False)
    monkeypatch.setattr(torch.compiler, "turn_off_unsafe", lambda: None, raising=False)
    unsafe = {variant.name: variant.unsafe for variant in remedies.variants()}

    assert unsafe["keep_few_unsafe"] == "torch's own words: Keep few guards on anything"
    assert unsafe["keep_none_unsafe"] == "unknown to pcbench"
    assert "turn_off_unsafe" not in unsafe


def _target(grad: bool = False) -> Guarded:
    return Guarded(Block(), (-torch.ones(2, 3), 3), grad=grad)


def _variant(name: str) -> remedies.Variant:
    return next(variant for variant in remedies.variants() if variant.name == name)


@pytest.mark.parametrize("grad", [False, True])
def test_variants_share_a_code_s_cache_and_none_is_changed_by_the_others(grad: bool) -> None:
    target = _target(grad)
    torch.compiler.reset()
    with remedies.compiled(target) as default:
        usual = remedies.counted(default)
        answer = default.call()
        for name in ("skip_all_guards_unsafe", "keep_tensor_guards_unsafe", "skip_nnmodule_hook_guards=False"):
            with remedies.compiled(target, _variant(name)) as subject:
                before = torch_api.frames_compiled()
                assert torch.equal(subject.call(), answer)  # type: ignore[arg-type]
                assert torch.equal(default.call(), answer)  # type: ignore[arg-type]
                assert torch_api.frames_compiled() == before
                assert remedies.counted(subject).counts != usual.counts
        assert remedies.counted(default).counts == usual.counts
        with remedies.compiled(target) as again:
            assert remedies._telling(remedies.counted(again)) == remedies._telling(usual)


def test_a_remedy_has_its_census_and_samples_beside_the_default_s() -> None:
    target = _target()
    torch.compiler.reset()
    with remedies.compiled(target) as default:
        usual = remedies.counted(default)
        found = remedies.remedy(target, default, usual, _variant("skip_all_guards_unsafe"))

    assert found is not None
    assert found.census is not None
    assert "guards" in usual.counts
    assert "guards" not in found.census.counts
    assert "cache entries" in found.census.unknown
    assert {len(samples) for samples in (*found.samples.values(), *found.default.values())} == {25}
    assert found.samples.keys() == found.default.keys() == {CHECK, HIT}
    assert min(found.samples[CHECK]) < min(found.default[CHECK])
    assert read_remedy(json.loads(json.dumps(asdict(found)))) == found


def test_a_setting_that_changes_no_guard_is_left_out_and_one_that_cannot_be_compiled_says_why() -> None:
    def failing(entries: list[Any]) -> list[bool]:  # noqa: ARG001  # a filter's signature
        raise ArithmeticError("too many")

    target = _target()
    torch.compiler.reset()
    with remedies.compiled(target) as default:
        usual = remedies.counted(default)
        idle = remedies.remedy(target, default, usual, _variant("report_guard_failures=False"))
        broken = remedies.Variant("failing", FILTER, "", failing)
        failed = remedies.remedy(target, default, usual, broken)

    assert idle is None
    assert failed is not None
    assert failed.census is None
    assert "ArithmeticError: too many" in failed.reason
    assert read_remedy(json.loads(json.dumps(asdict(failed)))) == failed


def test_a_time_with_a_compilation_in_it_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = itertools.count()
    monkeypatch.setattr(torch_api, "frames_compiled", lambda: next(numbers))
    target = _target()
    torch.compiler.reset()
    with remedies.compiled(target) as default:
        found = remedies.remedy(target, default, Census({}), _variant("skip_all_guards_unsafe"))

    assert found is not None
    assert "compiled again" in found.reason
    assert not found.samples


def test_each_remedy_is_told_as_it_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = [_variant(name) for name in ("skip_guard_on_globals_unsafe", "report_guard_failures=False")]
    monkeypatch.setattr(remedies, "variants", lambda: chosen)
    told: list[dict[str, Any]] = []
    torch.compiler.reset()

    clock = timing.PhaseClock(sees_compilers=False)
    remedies.guard_remedies(Request("tensors", 1, str(Path.cwd()), size=2), clock, told.append)

    assert [next(iter(message)) for message in told] == ["stage", "default", "stage", "remedy", "stage", "remedies"]
    assert told[3]["remedy"]["name"] == told[2]["stage"] == "skip_guard_on_globals_unsafe"
    assert told[-1] == {"remedies": {"unchanged": ["report_guard_failures=False"]}}
