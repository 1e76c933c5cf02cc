"""The claims of torch_compiler_api: what is known of them by release, and that their programs find a broken promise."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from expectations import RELEASE

from pcbench import claim_checking, claims, precompile, processes
from pcbench.asking import Setting
from pcbench.claims import ClaimOutcome
from pcbench.contract import DiffersError, guard_filters
from pcbench.contract import compiler_functions as functions
from pcbench.contract import compiler_stances as stances
from pcbench.contract import precompile_calling as calling
from pcbench.contract import precompile_capture as capture
from pcbench.contract import precompile_limits as limits
from pcbench.contract import precompile_training as training
from pcbench.samples import EAGER

CLAIMS = [claim for claim in claims.claims() if claim.document == "torch_compiler_api"]

DIFFERS_EVERYWHERE = {
    # make_fx refuses to read a value while it traces.
    "precompile_capture.a_branch_by_a_tensors_values_is_that_of_the_example",
    # On CPU, the bundle has no machine code: the same C++ is compiled again.
    "precompile_load.with_the_cache_no_kernel_is_compiled",
}
DIFFERS_SINCE_2_15 = {
    "precompile_calling.precompile_is_a_callable_instance",
    "precompile_calling.precompile_takes_a_function_its_inputs_and_three_options",
    "precompile_calling.precompile_returns_text_and_bytes",
    "precompile_calling.precompile_load_takes_the_pair",
    "precompile_calling.the_dynamo_tracer_is_only_planned",
}
DIFFERS_BEFORE_2_14 = {
    "compiler_functions.functions_of_tracing_are_there",
    "compiler_functions.functions_of_persisting_are_there",
    "compiler_functions.functions_of_cuda_graphs_are_there",
}
DIFFERS_BEFORE_2_13 = {
    "compiler_functions.functions_of_compiling_are_there",
    # Dynamo takes it to be True in whatever it traces.
    "compiler_tracing.is_exporting_is_true_under_export_alone",
}
UNAVAILABLE_BEFORE_2_14 = {
    "compiler_tracing.nonstrict_functions_take_modules",
    "compiler_functions.a_warm_up_mark_outside_one_does_nothing",
}
UNAVAILABLE_BEFORE_2_13 = {"compiler_functions.the_default_backend_can_be_set"}
NEEDS_GPU = {"compiler_functions.a_step_mark_frees_the_step_before"}
KNOWN = {
    *DIFFERS_EVERYWHERE,
    *DIFFERS_SINCE_2_15,
    *DIFFERS_BEFORE_2_14,
    *DIFFERS_BEFORE_2_13,
    *UNAVAILABLE_BEFORE_2_14,
    *UNAVAILABLE_BEFORE_2_13,
    *NEEDS_GPU,
}

_EAGER_ALONE = {
    *(f"precompile_limits.{name}" for name in ("eager_takes_any_memory_format", "marks_are_for_inductor_alone")),
    *(f"precompile_load.{name}" for name in ("the_source_says_how_it_is_called", "load_runs_the_source")),
    *(f"precompile_load.a_{what}_is_refused" for what in ("text_that_does_not_parse", "source_without_metadata")),
    "precompile_load.an_edited_source_is_refused_with_its_cache",
    "precompile_load.each_load_warns_before_it_runs",
    *(f"precompile_training.{name}" for name in ("gradients_accumulate", "an_ordinary_training_loop_works")),
    "precompile_training.which_parameters_get_a_gradient_is_fixed_at_capture",
    *(f"precompile_capture.{name}" for name in ("eager_keeps_the_graph", "several_models_may_be_passed")),
    "precompile_capture.a_tensor_that_is_no_argument_is_refused",
    "precompile_capture.a_branch_by_a_tensors_values_is_that_of_the_example",
    *(f"precompile_capture.{name}" for name in ("python_runs_at_capture_alone", "decompositions_are_applied")),
}
_COMPILING = ("precompile_capture.", "precompile_limits.", "precompile_load.", "precompile_training.")

# A process each, as the command has it, would be most of the cost: torch's import. A fork has its own state as well.
FORKED = """
import json, os, sys
from pcbench import torch_api
from pcbench.contract import _checking

torch_api.get("dynamo")
for program in sys.argv[1:]:
    sys.stdout.flush()
    forked = os.fork()
    if forked == 0:
        print("outcome", json.dumps([program, *_checking.outcome_of(program)]), flush=True)
        os._exit(0)
    os.waitpid(forked, 0)
"""


def expected(claim_id: str) -> ClaimOutcome:
    """What becomes of a claim on the torch that is installed."""
    if claim_id.startswith("precompile_") and RELEASE < (2, 14):
        return ClaimOutcome.UNAVAILABLE
    if (
        (claim_id in UNAVAILABLE_BEFORE_2_14 and RELEASE < (2, 14))
        or (claim_id in UNAVAILABLE_BEFORE_2_13 and RELEASE < (2, 13))
        or (claim_id in NEEDS_GPU and not torch.cuda.is_available())
    ):
        return ClaimOutcome.UNAVAILABLE
    differs = (
        claim_id in DIFFERS_EVERYWHERE
        or (claim_id in DIFFERS_SINCE_2_15 and RELEASE >= (2, 15))
        or (claim_id in DIFFERS_BEFORE_2_14 and RELEASE < (2, 14))
        or (claim_id in DIFFERS_BEFORE_2_13 and RELEASE < (2, 13))
    )
    return ClaimOutcome.DIFFERS if differs else ClaimOutcome.HOLDS


def _compiles(claim_id: str) -> bool:
    """Whether its program compiles C++, which is too much for each run of the tests."""
    compiling = claim_id.startswith(_COMPILING) and claim_id not in _EAGER_ALONE
    return compiling or claim_id == "compiler_functions.cache_artifacts_make_the_trip"


@pytest.fixture(scope="module")
def claim_caches() -> Iterator[Path]:
    with processes.scratch() as folder:
        yield folder


@pytest.mark.slow
def test_the_claims_of_torch_compiler_api_have_the_outcomes_that_are_known() -> None:
    asked = {claim.program: claim.id for claim in CLAIMS if not _compiles(claim.id)}
    ran = subprocess.run([sys.executable, "-c", FORKED, *asked], capture_output=True, text=True, check=False)
    lines = [line.partition(" ")[2] for line in ran.stdout.splitlines() if line.startswith("outcome ")]
    found = {asked[program]: (outcome, evidence) for program, outcome, evidence in map(json.loads, lines)}

    assert ran.returncode == 0, ran.stderr
    assert {claim_id: told for claim_id, told in found.items() if told[0] != expected(claim_id)} == {}
    assert set(found) == set(asked.values())


@pytest.mark.full
@pytest.mark.parametrize("claim", [claim for claim in CLAIMS if _compiles(claim.id)], ids=lambda claim: claim.id)
def test_a_claim_that_compiles_has_the_outcome_that_is_known(claim: claims.Claim, claim_caches: Path) -> None:
    found = claim_checking.check(claim, Setting(EAGER), claim_caches)

    assert found.outcome is expected(claim.id), found.evidence


def test_what_is_known_is_of_claims_that_there_are() -> None:
    assert (KNOWN | _EAGER_ALONE) - {claim.id for claim in CLAIMS} == set()


@pytest.mark.slow
def test_without_a_filter_each_change_of_the_guard_programs_is_noticed() -> None:
    assert [change for change in guard_filters._CHANGES if not guard_filters._notices(None, change)] == []


def keep_none(entries: list[Any]) -> list[bool]:
    return [False for _ in entries]


def keep_all(entries: list[Any]) -> list[bool]:
    return [True for _ in entries]


def capture_anything(*_: object, **__: object) -> tuple[str, bytes]:
    return "", b""


def load_over_empty_gradients(code: str, cache: bytes) -> Callable[..., Any]:
    run = LOAD(code, cache)

    def call(model: torch.nn.Module, x: torch.Tensor) -> Any:
        model.zero_grad()
        return run(model, x)

    return call


def load_wrong(code: str, cache: bytes) -> Callable[..., Any]:
    run = LOAD(code, cache)
    return lambda *args: run(*args) + 1


def load_lenient(code: str, cache: bytes) -> Callable[..., Any]:
    run = LOAD(code, cache)
    return lambda *args, **named: run(*args, *named.values())


LOAD = precompile.load


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "name", "broken", "told"),
    [
        (guard_filters.skip_guard_on_globals_keeps_and_drops, "skip_guard_on_globals_unsafe", keep_none, "otherwise"),
        (guard_filters.skip_guard_on_globals_leaves_unnoticed, "skip_guard_on_globals_unsafe", keep_none, "too"),
        (guard_filters.skip_all_guards_leaves_unnoticed, "skip_all_guards_unsafe", keep_all, "noticed all the same"),
        (guard_filters.skip_all_guards_keeps_and_drops, "skip_all_guards_unsafe", keep_all, "otherwise"),
        (functions.reset_forgets_compiled_code, "reset", lambda: None, r"\[1, 1\]"),
        (functions.disabled_functions_are_not_compiled, "disable", lambda fn: fn, "was compiled"),
        (functions.functions_of_guards_are_there, "__all__", [], "leaves out"),
        (stances.fail_on_recompile_raises, "set_stance", contextlib.nullcontext, "was not refused"),
        (stances.force_eager_ignores_compile, "set_stance", contextlib.nullcontext, "compiled code ran"),
        (calling.keywords_are_refused_when_it_is_called, "load", load_lenient, "was not refused"),
        (capture.a_tensor_that_is_no_argument_is_refused, "precompile", capture_anything, "was not refused"),
        (capture.several_models_may_be_passed, "load", load_wrong, "another answer"),
        (limits.eager_takes_any_memory_format, "load", load_wrong, "another answer"),
        (training.gradients_accumulate, "load", load_over_empty_gradients, "after 2 calls"),
    ],
)
def test_a_broken_promise_is_found(
    program: Callable[[], str], name: str, broken: object, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if expected(f"{program.__module__.rpartition('.')[2]}.{program.__name__}") is not ClaimOutcome.HOLDS:
        pytest.skip("does not hold on this torch")
    torch._dynamo.reset()
    monkeypatch.setattr(precompile if name in ("precompile", "load") else torch.compiler, name, broken)

    with pytest.raises(DiffersError, match=told):
        program()
