"""What the rules of ``pcbench codegen diff`` say of made-up pairs, and of none that is equal."""

from __future__ import annotations

from typing import Any

import pytest
from compilations import METRICS, diff, failed, rows, told

from pcbench.analysis.codegen_changes import Change, Weight
from pcbench.analysis.codegen_lines import diff_lines
from pcbench.analysis.codegen_rules import compare
from pcbench.analysis.policy import Policy, read_policy

HARD, SOFT, NOTE, UNKNOWN = Weight.HARD, Weight.SOFT, Weight.NOTE, Weight.UNKNOWN
DEFAULT = Policy()


def changes(baseline: list[dict[str, Any]], candidate: list[dict[str, Any]]) -> tuple[Change, ...]:
    return compare(rows(*baseline), rows(*candidate), DEFAULT).changes


TILED = "v_mfma_f32_32x32x8_f16"
MFMA = {"words": {"mma_class": TILED}}
RULES: list[tuple[str, Weight, dict[str, Any], dict[str, Any], list[str]]] = [
    ("spills", HARD, {}, {"spill_stores": 3}, ["spill stores from 0 to 3"]),
    ("spills", HARD, {}, {"spill_loads": 2}, ["spill loads from 0 to 2"]),
    ("spills", HARD, {}, {"spill_store_bytes": 40}, ["spill store bytes from 0 to 40"]),
    ("fits", HARD, {}, {"blocks_per_sm": 0}, ["4 blocks per SM before, now none"]),
    ("occupancy", HARD, {}, {"blocks_per_sm": 3}, ["from 4 to 3", "limited by registers"]),
    ("occupancy", HARD, {"blocks_per_sm": None}, {"blocks_per_sm": None, "occupancy": 0.25}, ["from 0.5 to 0.25"]),
    ("occupancy", HARD, {}, {"warps": 4, "blocks_per_sm": 6, "occupancy": 0.375}, ["from 0.5 to 0.375"]),
    ("matrix", HARD, {}, {"mma": 0}, ["4 before, now 0"]),
    ("matrix", HARD, {}, {"words": {"mma_class": "HMMA"}}, ["HGMMA before, now HMMA"]),
    ("matrix", HARD, MFMA, {"words": {"mma_class": "v_mfma_f32_32x32x8_bf16"}}, ["another kind", "now v_mfma_f32_32x"]),
    ("matrix", HARD, MFMA, {"words": {"mma_class": f"{TILED}+v_mfma_f32_32x32x2_f32"}}, ["another kind"]),
    ("matrix", SOFT, MFMA, {"words": {"mma_class": "v_mfma_f32_16x16x16_f16"}}, ["another tile", f"{TILED} before"]),
    ("matrix", SOFT, MFMA, {"words": {"mma_class": f"v_mfma_f32_32x32x4_2b_f16+{TILED}"}}, ["another tile"]),
    ("copies", HARD, {}, {"async_copies": 0}, ["2 before, now 0"]),
    ("width", HARD, {}, {"global_128": 4}, ["from 8 to 4", "others rose from 4 to 8"]),
    ("width", SOFT, {}, {"global_128": 6, "global_access": 10}, ["from 8 to 6", "no others in their place"]),
    ("global", HARD, {}, {"global_access": 16}, ["from 12 to 16 (+33%, beyond 25%)"]),
    ("global", HARD, {}, {"warps": 4, "global_access": 31}, ["by the warps of a block grew from 96 to 124 (+29%"]),
    ("warnings", HARD, {}, {"warnings": ["(C7511) wgmma is serialized"]}, ["0 before, now 1", "C7511"]),
    ("registers", SOFT, {}, {"registers": 72}, ["from 64 to 72 (+12%, beyond 10%)"]),
    ("registers", SOFT, {"registers": 29}, {"registers": 32}, ["from 29 to 32 (+10.3%, beyond 10%)"]),
    ("shared memory", SOFT, {}, {"shared_bytes": 40960}, ["from 32,768 to 40,960"]),
    ("instructions", SOFT, {}, {"sass": 331}, ["from 300 to 331"]),
    ("barriers", SOFT, {}, {"barriers": 6}, ["from 4 to 6"]),
    ("barriers", SOFT, {"barriers": 0}, {"barriers": 1}, ["from 0 to 1"]),
    ("layouts", SOFT, {}, {"convert_layout": 3}, ["from 2 to 3"]),
    ("ptx", SOFT, {}, {"ptx": 470}, ["from 400 to 470"]),
    ("compile time", SOFT, {}, {"compile_cpu_s": 0.6}, ["600 ms of CPU, not 400 ms (+50%"]),
    ("metrics", UNKNOWN, {}, {"registers": None}, ["the candidate does not tell registers"]),
    ("metrics", UNKNOWN, {"ptx": None}, {}, ["the baseline does not tell ptx"]),
]
NAMES = [f"{rule}, {before} to {after}" for rule, _, before, after, _ in RULES]


@pytest.mark.parametrize(("rule", "weight", "before", "after", "said"), RULES, ids=NAMES)
def test_a_rule_fires_where_its_number_moved_with_both_numbers_and_how_to_be_sure(
    rule: str, weight: Weight, before: dict[str, Any], after: dict[str, Any], said: list[str]
) -> None:
    found = changes([told(**before)], [told("b", **after)])

    assert [(change.rule, change.weight) for change in found] == [(rule, weight)]
    assert all(words in found[0].sentence for words in said), found[0].sentence
    assert found[0].confirm


@pytest.mark.parametrize(("before", "after"), [(before, after) for _, _, before, after, _ in RULES], ids=NAMES)
def test_no_rule_fires_on_equal_rows_nor_on_the_same_machine_code(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    assert changes([told(**after)], [told("b", **after)]) == ()
    assert changes([told(**before)], [told(**after)]) == ()


@pytest.mark.parametrize("metric", ["registers", "sass", "ptx", "ttgir", "shared_bytes", "barriers", "convert_layout"])
def test_less_of_something_is_called_neither_better_nor_worse(metric: str) -> None:
    found = diff([told()], [told("b", **{metric: METRICS[metric] // 4})])

    assert found.changes == ()
    assert not {"better", "faster", "improved"} & set(" ".join(diff_lines(found)).split())


def test_fewer_warps_that_make_the_accesses_of_a_block_among_them_are_not_more_accesses() -> None:
    assert changes([told()], [told("b", warps=4, global_access=24)]) == ()


def test_a_growth_within_its_threshold_is_not_said() -> None:
    within = {"registers": 70, "shared_bytes": 34000, "sass": 330, "barriers": 5, "ptx": 460, "global_access": 15}

    assert changes([told()], [told("b", **within, compile_cpu_s=0.49)]) == ()


def test_the_largest_change_of_a_weight_comes_first() -> None:
    worse = {
        "a few more spills": {"spill_stores": 30, "spill_loads": 30},
        "a quarter more accesses": {"global_access": 16},
        "half the blocks": {"blocks_per_sm": 2, "occupancy": 0.25},
        "no matrix instructions": {"mma": 0},
        "more registers": {"registers": 200},
    }
    before = [told(dtype=name, spill_stores=28, spill_loads=28) for name in worse]
    after = [told("b", **({"spill_stores": 28, "spill_loads": 28} | how), dtype=name) for name, how in worse.items()]

    assert [change.key.dtype for change in changes(before, after)] == [
        "no matrix instructions",
        "half the blocks",
        "a quarter more accesses",
        "a few more spills",
        "more registers",
    ]


def test_thresholds_are_of_the_policy() -> None:
    strict = read_policy({"codegen_registers": 0.01, "codegen_layouts": 5})

    found = compare(rows(told()), rows(told("b", registers=65, convert_layout=6)), strict).changes

    assert [change.rule for change in found] == ["registers"]


@pytest.mark.parametrize(
    "pattern",
    [
        "softmax",
        "softmax*",
        "* sm_90 *",
        "softmax _softmax sm_90 float16 rows=4096 columns=1024 BLOCK=1024 num_warps=8",
    ],
)
def test_a_case_of_the_policy_has_thresholds_for_a_kernel_or_for_a_compilation_as_it_is_printed(pattern: str) -> None:
    lax = read_policy({"case": [{"match": pattern, "codegen_registers": 0.5}]})
    before = [told(target=chip) for chip in ("sm_90", "sm_100")]
    after = [told("b", target=chip, registers=90) for chip in ("sm_90", "sm_100")]

    found = diff(before, after, lax)

    spared = {"sm_90"} if "sm_90" in pattern else {"sm_90", "sm_100"}
    assert {change.key.target for change in found.changes} == {"sm_90", "sm_100"} - spared


def test_later_cases_of_the_policy_win_and_those_of_asv_s_benchmarks_are_of_none_of_these() -> None:
    asv = {"match": "bench_codegen.Codegen.track_spills(softmax, sm_90)", "ignore": True}
    cases = [{"match": "softmax", "codegen_registers": 0.5}, {"match": "soft*", "codegen_registers": 0.01}, asv]

    (change,) = diff([told()], [told("b", registers=65)], read_policy({"case": cases})).changes

    assert "beyond 1%" in change.sentence


def test_a_warning_that_differs_in_a_name_or_a_number_alone_is_not_new() -> None:
    before, after = "(C7511) serialized in the function '_old' at 12", "(C7511) serialized in the function '_new' at 13"

    assert changes([told(warnings=[before])], [told("b", warnings=[after])]) == ()


def test_a_kernel_that_no_longer_compiles_is_hard_and_one_that_neither_side_compiles_for_one_reason_is_a_note() -> None:
    refused = failed("COMPILE_FAILED", "out of registers")

    assert [(c.rule, c.weight) for c in changes([told()], [refused])] == [("compiles", HARD)]
    assert [(c.rule, c.weight) for c in changes([refused], [refused])] == [("compiles", NOTE)]
    other = failed("COMPILE_FAILED", "no fp8")
    assert [(c.rule, c.weight) for c in changes([refused], [other])] == [("compiles", UNKNOWN)]
    assert [(c.rule, c.weight) for c in changes([refused], [told()])] == [("compiles", NOTE)]
    assert [(c.rule, c.weight) for c in changes([told()], [failed("UNAVAILABLE", "no")])] == [("compiles", UNKNOWN)]


def test_what_is_unavailable_on_both_sides_for_one_reason_is_not_judged() -> None:
    here, whole = failed("UNAVAILABLE", "no fp8"), {"kernel": "k", "status": "UNAVAILABLE", "reason": "not on sm_80"}

    assert changes([here, whole], [here, whole]) == ()
    assert [c.weight for c in changes([here], [failed("UNAVAILABLE", "no bf16")])] == [UNKNOWN]
    assert [c.weight for c in changes([whole], [{**whole, "reason": "other"}])] == [UNKNOWN, UNKNOWN]


def test_a_process_that_died_explains_what_is_missing_of_its_kernel() -> None:
    crashed = {"kernel": "softmax", "target": "sm_90", "status": "CRASHED", "reason": "SIGSEGV"}
    both = [told(), told(target="sm_100")]

    found = changes(both, [crashed])

    assert [(c.key.target, c.weight) for c in found] == [("sm_90", UNKNOWN), ("sm_100", UNKNOWN)]
    assert "SIGSEGV" in found[0].sentence
    assert "MISSING" in found[1].sentence
    assert [c.sentence for c in changes([crashed], [told()])] == ["the baseline: CRASHED: SIGSEGV"]


def test_a_configuration_that_is_gone_is_hard_while_others_of_its_launch_are_there() -> None:
    other = told(config="BLOCK=2048 num_warps=8")

    assert [(c.rule, c.weight) for c in changes([told(), other], [told()])] == [("configurations", HARD)]
    assert [(c.rule, c.weight) for c in changes([told()], [told(), other])] == [("rows", NOTE)]
    two = [told(kernel="j"), told(kernel="k")]
    assert [(c.rule, c.weight) for c in changes([told()], two)] == [("rows", UNKNOWN), ("rows", NOTE), ("rows", NOTE)]


def test_a_row_under_another_configuration_is_compared_and_it_is_said() -> None:
    found = changes([told()], [told("b", config="BLOCK=1024 num_warps=4", blocks_per_sm=2)])

    assert [change.rule for change in found] == ["occupancy", "name"]
    assert "its configuration was BLOCK=1024 num_warps=8" in found[1].sentence


@pytest.mark.parametrize("renamed", [{"function": "_other"}, {"config": "SIZE=1024 num_warps=8"}, {}])
def test_a_rename_raises_no_flag(renamed: dict[str, str]) -> None:
    found = diff([told()], [told("b", **renamed)])

    assert found.changes == ()
    assert found.exit_code == 0
    assert "the code differs, and no rule fired for it: softmax" in "\n".join(diff_lines(found))


def test_two_calls_of_one_function_are_compared_each_with_its_own() -> None:
    small, large = told("a", registers=10), told("b", registers=100)

    assert changes([small, large], [small, large]) == ()
    assert len(changes([small, large], [large, small])) == 1
