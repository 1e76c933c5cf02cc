"""What ``pcbench codegen diff`` says where no rule about the code fired, and of what has another name, or no number."""

from __future__ import annotations

from compilations import diff, failed, told

from pcbench.analysis.codegen_lines import as_markdown, diff_json, diff_lines


def test_code_that_differs_where_no_rule_fired_is_told_in_words_and_json_has_all_of_it() -> None:
    before = [told(config=f"BLOCK={block}", spill_stores=9, sass=371) for block in range(10)]
    less = {"sass": 307, "global_128": 10, "blocks_per_sm": 5, "occupancy": 0.625, "spill_stores": 0, "ttir": 39}
    after = [told("b", config=f"BLOCK={block}", **less) for block in range(9)]
    slower = told("b", config="BLOCK=9", **less, compile_cpu_s=0.8)

    found = diff(before, [*after, slower])
    shown = diff_lines(found)

    name = "softmax _softmax sm_90 float16 rows=4096 columns=1024 BLOCK=0"
    numbers = (
        "instructions 371 to 307, 128-bit accesses 8 to 10, spill stores 9 to 0, blocks per SM 4 to 5, "
        "occupancy 0.5 to 0.625"
    )
    assert f"the code differs, and no rule fired for it: {name}: {numbers}" in shown
    assert shown[-2:] == [
        "and 2 more compilations: --json has them, with their numbers",
        "1 soft; 0 of 10 compilations are the same machine code",
    ]
    differing = diff_json(found)["differing"]
    assert [pair["config"] for pair in differing] == [f"BLOCK={block}" for block in range(10)]
    assert differing[0]["key"] == name
    assert differing[0]["numbers"]["sass"] == (371, 307)
    assert differing[0]["numbers"]["ttir"] == (40, 39)
    assert "registers" not in differing[0]["numbers"]


def test_machine_code_that_differs_where_no_rule_fired_is_shown_too_and_each_once() -> None:
    count = 10
    before = [told(config=f"BLOCK={block}", assembly=f"MOV {block} ;") for block in range(count)]
    after = [told("b", config=f"BLOCK={block}", assembly=f"ADD {block} ;") for block in range(count)]
    after[3] |= {"compile_cpu_s": 0.9}
    after[4] |= {"compile_cpu_s": 0.9, "function": "_other"}

    shown = diff_lines(diff(before, after), code=True)

    for block in range(count):
        assert shown.count(f"    +ADD {block} ;") == shown.count(f"    -MOV {block} ;") == 1
        head = "the code differs, and no rule fired for it: "
        named = next(place for place, line in enumerate(shown) if line.startswith(head) and f"BLOCK={block}:" in line)
        assert f"    -MOV {block} ;" in shown[named + 1 : named + 6]
    assert not any("more compilation" in line for line in shown)


def test_compile_times_alone_are_a_line_for_each_kernel_at_the_end_and_in_json_all_of_them() -> None:
    before = [told(config=f"BLOCK={block}") for block in range(3)] + [told(kernel="k"), told(kernel="j")]
    after = [told("b", config=f"BLOCK={block}", compile_cpu_s=0.5 + 0.11 * block) for block in range(3)]
    after += [told("b", kernel="k", compile_cpu_s=0.8), told("b", kernel="j", compile_cpu_s=1.2, registers=80)]

    found = diff(before, after)
    shown, table = diff_lines(found), [line for line in as_markdown(found).splitlines() if line.startswith("| ")]

    assert shown[3:6] == [
        "j _softmax sm_90 float16 rows=4096 columns=1024 BLOCK=1024 num_warps=8",
        "  soft: registers: registers grew from 64 to 80 (+25%, beyond 10%)",
        "  soft: compile time: a compile took 1.20 s of CPU, not 400 ms (+200%, beyond 25%)",
    ]
    start = shown.index("soft: compile time: k: 1 compilation took 2 times the CPU seconds")
    assert shown[start + 1 : start + 4] == [
        "soft: compile time: softmax: 2 compilations took 1.52 to 1.80 times the CPU seconds",
        "  to confirm: the same command three times on each side, on an idle machine",
        "",
    ]
    assert sum("a compile took" in line for line in shown) == 1
    assert [line for line in table if "<code>softmax</code>" in line] == [
        "| soft | <code>softmax</code> | sm_90 | compile time: 2 compilations took 1.52 to 1.80 times the CPU seconds"
        " | the same command three times on each side, on an idle machine |"
    ]
    assert sum(change["rule"] == "compile time" for change in diff_json(found)["changes"]) == 4


def test_where_no_compilation_has_numbers_on_both_sides_nothing_was_compared() -> None:
    refused, unavailable = failed("COMPILE_FAILED", "BLOCK is missing"), failed("UNAVAILABLE", "no fp8", kernel="k")
    fine = told(kernel="j")

    for before, after in (([refused], [refused]), ([unavailable], [unavailable]), ([refused], [told()])):
        nothing, something = diff(before, after), diff([*before, fine], [*after, fine])
        assert (nothing.exit_code, something.exit_code) == (2, 0)
        assert diff_lines(nothing)[-1].endswith("nothing was compared: no compilation has numbers on both sides")
        assert diff_lines(something)[-1].endswith("1 of 1 compilation is the same machine code")
        assert (diff_json(nothing)["compared"], diff_json(something)["compared"]) == (0, 1)


def test_one_kernel_is_compared_with_one_of_another_name_which_is_said_even_of_the_same_code() -> None:
    same = diff([told(kernel="v1.py"), told(kernel="v1.py", target="sm_100")], [told(kernel="v2.py")])
    other = diff([told(kernel="v1.py")], [told("b", kernel="v2.py", function="_new", sass=299)])
    two = diff([told(kernel="v1.py")], [told(kernel="v2.py"), told(kernel="v3.py")])

    assert [(change.rule, change.sentence) for change in same.changes if change.key.kernel == "v2.py"] == [
        ("name", "its kernel was v1.py")
    ]
    assert (len(same.measured), len(two.pairs), other.exit_code) == (1, 0, 0)
    (line,) = (line for line in diff_lines(other) if line.startswith("the code differs"))
    assert line.endswith(": its kernel was v1.py, its function was _softmax, instructions 300 to 299")


def test_no_command_is_named_that_does_not_run_of_a_file_or_a_function() -> None:
    shown = []
    for name in ("mine.py", "m:f"):
        before = [told(kernel=name), told(kernel=name, dtype="float32")]
        after = [told("b", kernel=name, registers=80), failed("COMPILE_FAILED", "no", kernel=name, dtype="float32")]
        shown += [line for line in diff_lines(diff(before, after)) if "to confirm" in line]

    assert shown == [
        "  to confirm: `pcbench codegen mine.py --target sm_90 --configs all` on either side shows what the compiler"
        " says",
        "  to confirm: timing mine.py on sm_90 (H100 or H200), both sides in turn: only a GPU tells",
        "  to confirm: compiling m:f for sm_90 with its --signature on either side shows what the compiler says",
        "  to confirm: timing m:f on sm_90 (H100 or H200), both sides in turn: only a GPU tells",
    ]
