"""Each launch of a run: where it was timed or why not, which compilation is its, and what became of that."""

from __future__ import annotations

import pytest
from compilations import failed, rows
from examples import run
from kernel_runs import H200, NO_GPU, SIZES, compiled, kernels_run, times

from pcbench.analysis.cards import card_of_device
from pcbench.analysis.kernel_history import Since
from pcbench.analysis.kernel_launches import Kernels, Launch, kernels
from pcbench.analysis.policy import Policy
from pcbench.analysis.records import Run
from pcbench.analysis.roofline import Measured, Unknown
from pcbench.analysis.shown import Shown

CARD = card_of_device(H200)


def only(*runs: Run) -> Kernels:
    (found,) = kernels(Shown(runs))
    return found


def launch_of(*runs: Run) -> Launch:
    (launch,) = only(*runs).launches
    return launch


def test_a_launch_that_was_timed_has_its_row_at_the_target_of_its_card_alone() -> None:
    made = kernels_run(0, [compiled(target=target) for target in ("sm_90", "sm_100")], [times()])
    hopper, blackwell = only(made).launches

    assert isinstance(hopper.measured, Measured)
    assert (hopper.target, hopper.card) == ("sm_90", CARD)
    assert blackwell.measured == Unknown("it was timed on NVIDIA H200")


def test_a_card_without_documented_peaks_is_measured_and_not_predicted() -> None:
    launch = launch_of(kernels_run(0, [compiled()], [times(gpu="NVIDIA H100 PCIe")]))

    assert isinstance(launch.measured, Measured)
    assert launch.predicted == Unknown("no documented peaks of this card are kept")


def test_a_card_of_a_target_that_nothing_was_compiled_for_has_a_row_of_its_own() -> None:
    made = kernels_run(0, [compiled()], [times(gpu="NVIDIA L4", target="sm_89")])
    compiled_for, timed_on = only(made).launches

    assert compiled_for.measured == Unknown("it was timed on NVIDIA L4")
    assert (timed_on.target, timed_on.compiled) == ("sm_89", ())
    assert isinstance(timed_on.measured, Measured)


@pytest.mark.parametrize(
    ("unmeasured", "reason"),
    [
        ({}, "bench_kernels did not run"),
        ({f"softmax float16 {SIZES}": "its reference raised", "a": NO_GPU, "b": NO_GPU}, "its reference raised"),
        ({"matmul float16 m=1": NO_GPU, "row_sum": NO_GPU}, "bench_kernels has no case of it"),
    ],
)
def test_a_launch_that_was_not_timed_says_why_by_its_own_case_and_never_by_anothers(
    unmeasured: dict[str, str], reason: str
) -> None:
    assert launch_of(kernels_run(0, [compiled()], unmeasured=unmeasured)).measured == Unknown(reason)


def test_a_launch_beside_others_that_were_all_timed_has_no_case() -> None:
    _, alone = only(kernels_run(0, [compiled(), compiled("mine:function")], [times()])).launches

    assert alone.measured == Unknown("bench_kernels has no case of it")


def test_the_configuration_that_ran_decides_which_compilation_is_shown() -> None:
    small, large = (compiled(config=f"BLOCK={size} num_warps=4", registers=size) for size in (64, 128))
    other = compiled(function="_reduce", config="", registers=40)
    built = [(*small, *other, *large)]

    ran = launch_of(kernels_run(0, built, [times(config=("BLOCK=128 num_warps=4",))]))
    assert [row.metrics["registers"] for row in ran.compiled] == [40, 128]
    for config in ((), ("BLOCK=128 num_warps=8",)):
        first = launch_of(kernels_run(0, built, [times(config=config)]))
        assert [row.metrics["registers"] for row in first.compiled] == [64, 40]


def test_each_of_two_launches_that_are_tuned_has_the_compilation_that_ran() -> None:
    built = [
        compiled(function=function, config=f"{block}={size} num_warps=4", registers=size)[0]
        for function, block in (("_forward", "ROWS"), ("_backward", "COLUMNS"))
        for size in (32, 64, 128)
    ]
    ran = "ROWS=64 num_warps=4", "COLUMNS=128 num_warps=4"

    launch = launch_of(kernels_run(0, [tuple(built)], [times(config=ran)]))
    assert [(row.key.function, row.metrics["registers"]) for row in launch.compiled] == [
        ("_forward", 64),
        ("_backward", 128),
    ]


def test_the_tightest_function_fills_least_and_spills_are_those_of_all() -> None:
    functions = [
        compiled(function=name, occupancy=share, registers=registers, spill_stores=spilled, spill_loads=2 * spilled)[0]
        for name, share, registers, spilled in (("a", 0.5, 90, 3), ("b", 0.25, 70, 0), ("c", 0.25, 80, 4))
    ]
    launch = launch_of(kernels_run(0, [tuple(functions)]))

    assert launch.tightest is functions[2]
    assert launch.spills == 21


def test_of_several_functions_none_is_tightest_where_the_occupancy_of_one_is_not_known() -> None:
    known, unknown = compiled(occupancy=0.5), compiled(function="_backward", occupancy=None)

    assert launch_of(kernels_run(0, [(*known, *unknown)])).tightest is None
    assert launch_of(kernels_run(0, [unknown])).tightest is unknown[0]


def test_a_launch_of_which_one_function_failed_has_no_tightest_one() -> None:
    broken = rows(failed("COMPILE_FAILED", "no", function="_backward"))
    launch = launch_of(kernels_run(0, [(*compiled(), *broken)]))

    assert (launch.tightest, launch.spills) == (None, None)


def test_code_is_compared_with_the_newest_earlier_run_that_compiled_it() -> None:
    runs = [
        kernels_run(0, [compiled(code="a")]),
        kernels_run(1, [compiled(code="b", blocks_per_sm=8)]),
        kernels_run(2, [compiled("dropout")]),
        kernels_run(3, [compiled(code="c", blocks_per_sm=2, occupancy=0.25, compile_cpu_s=9.0)]),
    ]
    since = launch_of(*runs).since

    assert since.commit == runs[1].commit
    assert [change.rule for change in since.noted] == ["occupancy"]
    assert "compile time" in [change.rule for change in since.changes]
    assert "fell from 8 to 2" in since.noted[0].sentence


def test_the_same_machine_code_is_said_to_be_the_same_and_other_code_is_not() -> None:
    same = launch_of(kernels_run(0, [compiled()]), kernels_run(1, [compiled()])).since
    other = launch_of(kernels_run(0, [compiled()]), kernels_run(1, [compiled(code="b")])).since

    assert (same.same, same.changes) == (True, ())
    assert (other.same, other.changes) == (False, ())
    both, half = ((*compiled(), *compiled(function="_backward", code=code)) for code in "ab")
    assert not launch_of(kernels_run(0, [both]), kernels_run(1, [half])).since.same


def test_compilations_that_the_policy_ignores_are_neither_the_same_nor_other() -> None:
    both, half = ((*compiled(), *compiled(function="_backward", code=code)) for code in "ab")
    runs = kernels_run(0, [both]), kernels_run(1, [half])

    def since(pattern: str) -> Since:
        (found,) = kernels(Shown(runs, policy=Policy(overrides=((pattern, {"ignore": True}),))))
        return found.launches[0].since

    assert since("dropout").same is False
    assert since("*_backward*").same is True
    assert (since("softmax").commit, since("softmax").same) == (runs[0].commit, None)


def test_what_changed_for_one_launch_of_a_kernel_is_not_said_of_another() -> None:
    small = "rows=2 columns=2"
    before = kernels_run(0, [compiled(), compiled(sizes=small)])
    worse, other = only(before, kernels_run(1, [compiled(code="b", registers=200), compiled(sizes=small)])).launches

    assert [change.rule for change in worse.since.changes] == ["registers"]
    assert (other.since.changes, other.since.same) == ((), True)


def test_runs_of_different_places_are_not_compared() -> None:
    here, there = kernels_run(0, [compiled()]), kernels_run(1, [compiled(code="b")], environment="another")

    assert [one.launches[0].since.commit for one in kernels(Shown([here, there]))] == [None, None]


def test_a_compilation_that_is_gone_is_kept_apart() -> None:
    before = kernels_run(0, [(*compiled(), *compiled(sizes="rows=2 columns=2"))])
    (gone,) = only(before, kernels_run(1, [compiled()])).gone

    assert gone.key.sizes == "rows=2 columns=2"


def test_runs_without_kernels_have_no_launches() -> None:
    assert kernels(Shown([run(0, {})])) == []
