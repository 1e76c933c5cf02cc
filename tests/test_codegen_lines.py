"""What ``pcbench codegen diff`` prints of made-up pairs: in a terminal, in Markdown and in JSON."""

from __future__ import annotations

from compilations import diff, failed, told

from pcbench.analysis.codegen_changes import Weight
from pcbench.analysis.codegen_lines import as_markdown, diff_json, diff_lines
from pcbench.analysis.policy import read_policy

HARD, SOFT = Weight.HARD, Weight.SOFT


def test_what_the_policy_ignores_is_counted_and_said_and_never_judged() -> None:
    spilling, other = told("b", spill_stores=9), told(kernel="k")
    gone, new = told(config="BLOCK=2 num_warps=8"), told(dtype="bfloat16")
    died = {"kernel": "softmax", "target": "sm_100", "status": "CRASHED", "reason": "SIGSEGV"}
    policy = read_policy({"case": [{"match": "softmax", "ignore": True}]})

    found = diff([told(), gone, other], [spilling, new, died, other], policy)

    assert (found.changes, found.exit_code, [pair.key.kernel for pair in found.pairs]) == ((), 0, ["k"])
    assert diff_lines(found)[-2:] == [
        "the policy ignores 4 compilations: take their ignore out of [tool.pcbench.policy] to have them judged",
        "no rule fired; 1 of 1 compilation is the same machine code",
    ]
    assert "the policy ignores 4 compilations" in as_markdown(found)
    assert diff_json(found)["ignored"][0] == "softmax sm_100"
    assert diff([told()], [spilling], policy).exit_code == 2  # nothing was judged


def test_the_worst_compilation_comes_first_and_decides_the_exit_code() -> None:
    soft = told("b", registers=80)
    hard = told("c", target="sm_100", spill_stores=4, registers=80)
    before = [told(), told(target="sm_100"), told(target="sm_80")]

    found = diff(before, [soft, hard, told(target="sm_80")])
    shown = "\n".join(diff_lines(found))

    assert [(c.key.target, c.weight) for c in found.changes] == [("sm_100", HARD), ("sm_100", SOFT), ("sm_90", SOFT)]
    assert found.exit_code == 1
    assert 'to confirm: `pcbench ab BASELINE CANDIDATE "bench_kernels.*(softmax *"` on sm_100 (B200): only' in shown
    assert shown.endswith("1 hard, 2 soft; 1 of 3 compilations is the same machine code")
    assert diff(before[:1], [soft]).exit_code == 0
    assert diff([told()], [failed("TIMED_OUT", "late")]).exit_code == 2
    assert diff([], []).exit_code == 2


def test_the_targets_of_an_entry_are_in_the_order_of_their_cards_and_others_last() -> None:
    chips = ("sm_75", "gfx942", "sm_100", "sm_90")
    broken = [failed("COMPILE_FAILED", "no", target=chip) for chip in chips]

    shown = "\n".join(diff_lines(diff([told(target=chip) for chip in chips], broken)))

    assert "4 compilations for sm_90, sm_100, gfx942, sm_75" in shown
    assert "softmax --target sm_90 --target sm_100 --target gfx942 --target sm_75 --configs all" in shown


def test_compilations_of_a_kernel_of_which_the_same_is_said_share_an_entry_that_names_them() -> None:
    many = [
        told(target=chip, dtype=dtype, config=f"BLOCK={block}")
        for chip in ("sm_100", "sm_90")
        for dtype in ("float16", "float32")
        for block in (512, 1024, 2048)
    ]
    refused = [
        {**failed("COMPILE_FAILED", "out of registers", target=row["target"]), "kernel": "k"} for row in many[5:7]
    ]
    good = [told(target=row["target"], kernel="k") for row in refused]

    found = diff([*good, told()], [*many, *refused, told("b", registers=80)])

    assert diff_lines(found)[3:14] == [
        "k: 2 compilations for sm_90, sm_100: _softmax; float16; rows=4096 columns=1024; BLOCK=1024 num_warps=8",
        "  hard: compiles: no longer: COMPILE_FAILED: out of registers",
        "  to confirm: `pcbench codegen k --target sm_90 --target sm_100 --configs all` on either side shows what the"
        " compiler says",
        "",
        "softmax _softmax sm_90 float16 rows=4096 columns=1024 BLOCK=1024 num_warps=8",
        "  soft: registers: registers grew from 64 to 80 (+25%, beyond 10%)",
        '  to confirm: `pcbench ab BASELINE CANDIDATE "bench_kernels.*(softmax *"` on sm_90 (H100 or H200): only a GPU'
        " tells",
        "",
        "softmax: 12 compilations for sm_90, sm_100: _softmax; float16, float32; rows=4096 columns=1024;"
        " 3 configurations",
        "  note: rows: NEW: the candidate alone has it",
        "  to confirm: `pcbench codegen softmax --target sm_90 --target sm_100 --configs all` on either side shows what"
        " the compiler says",
    ]
    assert diff_lines(found)[-1].startswith("2 hard, 1 soft, 12 notes; ")
    table = [line for line in as_markdown(found).splitlines() if line.startswith("| ")]
    assert len(table) == 1 + 1 + 3
    assert table[-1].startswith(
        "| note | <code>softmax</code>: 12 compilations: _softmax; float16, float32; rows=4096 columns=1024; "
        "3 configurations | sm_90, sm_100 | rows: NEW: the candidate alone has it |"
    )
    assert len(diff_json(found)["changes"]) == 15


def test_compilations_of_which_different_numbers_are_said_stay_apart() -> None:
    before = [told(dtype=dtype) for dtype in ("float16", "float32", "bfloat16")]
    spilling = [told("b", dtype=row["dtype"], spill_stores=3) for row in before[:2]]

    found = diff(before, [*spilling, told("b", dtype="bfloat16", spill_stores=4)])

    heads = [line for line in diff_lines(found) if line.startswith("softmax")]
    assert heads == [
        "softmax _softmax sm_90 bfloat16 rows=4096 columns=1024 BLOCK=1024 num_warps=8",
        "softmax: 2 compilations for sm_90: _softmax; float16, float32; rows=4096 columns=1024; BLOCK=1024 num_warps=8",
    ]


def test_compilations_of_two_kernels_or_to_be_confirmed_in_two_ways_stay_apart() -> None:
    unknown = [told(kernel=name, ptx=None) for name in ("one", "two")]
    grown = [told("b", target=target, registers=80) for target in ("sm_90", "sm_100")]
    refused = [failed("COMPILE_FAILED", target, kernel="three", target=target) for target in ("sm_90", "sm_100")]
    alone = [told(kernel=name, target=target) for name, target in (("four", "sm_80"), ("five", "sm_90"))]
    compiled = [told(kernel=row["kernel"], target=row["target"]) for row in (*unknown, *grown, *refused)]

    found = diff(compiled, [*(told("b", kernel=row["kernel"], ptx=None) for row in unknown), *grown, *refused, *alone])

    shown = diff_lines(found)
    assert not any("compilations for" in line for line in shown)
    assert sum(line.startswith("  to confirm: `pcbench ab ") for line in shown) == 2
    for told_once in ("three --target sm_90 -", "three --target sm_100 -", "four --target sm_80 -"):
        assert sum(told_once in line for line in shown) == 1


def test_markdown_counts_what_its_table_leaves_out() -> None:
    before = [told(config=f"BLOCK={block}") for block in range(155)]
    after = [told("b", config=f"BLOCK={block}", registers=100 + block) for block in range(155)]

    lines = as_markdown(diff(before, after)).splitlines()

    assert sum(line.startswith("| soft |") for line in lines) == 150
    assert "and 5 more" in lines


def test_two_sides_that_have_nothing_in_common_are_not_called_the_same() -> None:
    found = diff([], [told()])

    assert diff_lines(found)[0] == "baseline: a.json: it has none of these kernels"
    assert diff_lines(found)[-1] == "1 note; nothing was compared"
    assert found.exit_code == 2


def test_another_compiler_is_said_first_and_the_same_one_is_not() -> None:
    other = diff([told(triton="3.6.0", assembler="ptxas 12.8.93")], [told()])
    fewer = diff([told(), told(target="sm_80", assembler="ptxas 12.9.86")], [told()])

    assert diff_lines(other)[:3] == [
        "baseline: a.json: sm_90: triton 3.6.0 and ptxas 12.8.93",
        "candidate: b.json: sm_90: triton 3.9.0 and ptxas 13.4.59",
        "note: the compilers differ, so that what changed may be theirs and not the kernel's",
    ]
    assert not any(line.startswith("note: ") for line in diff_lines(fewer))


def test_the_machine_code_of_a_change_is_shown_on_demand_without_addresses() -> None:
    before = told(assembly="/*0010*/ LDG.E.128 R4 ;\n/*0020*/ EXIT ;")
    found = diff([before], [told("b", assembly="/*0010*/ LDG.E.U16 R4 ;\n/*0030*/ EXIT ;", global_128=0)])

    shown = "\n".join(diff_lines(found, code=True))

    assert "-LDG.E.128 R4 ;" in shown
    assert "+LDG.E.U16 R4 ;" in shown
    assert " EXIT ;" in shown
    assert "0030" not in shown
    assert "LDG" not in "\n".join(diff_lines(found))


def test_the_machine_code_of_each_compilation_in_an_entry_is_shown_under_its_name() -> None:
    before = [told(dtype=dtype, assembly=f"MOV {dtype} ;") for dtype in ("float16", "float32")]
    after = [told("b", dtype=dtype, assembly=f"ADD {dtype} ;", sass=400) for dtype in ("float16", "float32")]

    shown = diff_lines(diff(before, after), code=True)

    for dtype in ("float16", "float32"):
        name = shown.index(f"    softmax _softmax sm_90 {dtype} rows=4096 columns=1024 BLOCK=1024 num_warps=8")
        assert shown[name + 4 : name + 6] == [f"    -MOV {dtype} ;", f"    +ADD {dtype} ;"]


def test_markdown_has_a_row_for_each_change_and_nothing_in_it_marks_anything() -> None:
    found = diff([told()], [told("b", warnings=["a|b <i> @someone"], registers=80)])

    lines = as_markdown(found).splitlines()

    assert lines[0].startswith("### pcbench codegen: 1 hard, 1 soft")
    table = [line for line in lines if line.startswith("|")]
    assert [line.split(" | ")[0] for line in table[2:]] == ["| hard", "| soft"]
    assert "a&#124;b &lt;i&gt; &#64;someone" in table[2]
    assert {line.count("|") for line in table} == {6}


def test_json_has_each_change_with_its_key() -> None:
    told_json = diff_json(diff([told()], [told("b", registers=80)]))

    (change,) = told_json["changes"]
    assert (change["kernel"], change["target"], change["rule"], change["weight"]) == (
        "softmax",
        "sm_90",
        "registers",
        "soft",
    )
    assert (told_json["compared"], told_json["same_code"]) == (1, 0)
