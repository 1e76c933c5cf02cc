"""What is said of a target's guards: on one build, on several, and as JSON."""

from __future__ import annotations

import json

import pytest
from guard_reports import COUNTS, PLACES, cost, counted, report, sweep

from pcbench.analysis.guard_builds import guard_build_lines, ratio
from pcbench.analysis.guard_json import to_json
from pcbench.analysis.guard_lines import guard_lines
from pcbench.analysis.guard_report import GuardReport, of_processes
from pcbench.guard_causes import read_remedy, read_subtrees
from pcbench.guard_samples import CHECK, Census, Place, read_census, read_cost, read_sweep


def line(lines: list[str], *words: str) -> str:
    """The only line that has these words."""
    found = [one for one in lines if all(word in one for word in words)]
    assert len(found) == 1, (words, found)
    return found[0]


def test_a_process_gives_its_least_block_and_the_middle_of_a_difference() -> None:
    costs = (cost(2.0, 10.0), cost(3.0, 12.0))

    assert of_processes(costs, CHECK) == (2e-6, 3e-6)
    assert of_processes(costs, "hit - direct") == pytest.approx((8.25e-6, 10.25e-6))
    assert of_processes(costs, "loaded: call") == ()


def test_the_census_shows_each_entry_with_its_types_and_what_is_unknown() -> None:
    lines = guard_lines([report()])

    assert lines[0] == "encoder on torch 2.15.0: 3 guards on 1 value, 1 frame"
    assert line(lines, "guards  ", "3").endswith("GLOBAL_STATE 1, LAMBDA_GUARD 1, TENSOR_MATCH 1")
    assert line(lines, "answers  ").split()[1:] == ["is_tag_safe", "1"]
    assert "unknown: answers: is_new: it takes arguments" in lines


def test_a_census_that_is_not_exact_says_what_each_process_says() -> None:
    unstable = counted(**{"guards": ("3", "4")})

    assert line(guard_lines([report(counted=unstable)]), "not exact") == (
        "not exact: guards is 3 in one process and 4 in another"
    )


def test_times_are_the_middle_of_processes_with_their_range_and_reasons_where_there_are_none() -> None:
    lines = guard_lines([report()])

    assert "2.11 us (2.01-2.21, n=3)" in line(lines, "all guards checked, again and again")
    assert "30 us" in line(lines, "hit at entry 8 of 8")
    assert "8.25 us" in line(lines, "hit - direct")
    assert "unavailable: loaded: call: it cannot be saved" in lines


def test_where_the_time_goes_is_told_by_type_module_and_subtree() -> None:
    lines = guard_lines([report()])

    assert "100 ns" in line(lines, "guards: TENSOR_MATCH", "400 ns")
    assert "not told from 0" in line(lines, "guards: TYPE_MATCH")
    assert line(lines, "not told apart here").endswith(": guards: ID_MATCH")
    modules, deep = [one for one in lines if one.startswith("L['self'].layers")]
    assert "50%" in modules
    assert "50%" in deep
    assert line(lines, "not timed") == "not timed: L['y']: refused"
    assert line(lines, "add up to").endswith("95% of the least block")


def test_what_would_help_is_ordered_by_what_it_spares_and_says_what_goes_unnoticed() -> None:
    lines = guard_lines([report()])
    places = [lines.index(line(lines, name, cell)) for name, cell in (("skip_all", "0.55"), ("specialize", "2.00"))]

    assert places == sorted(places)
    assert line(lines, "skip_all_guards_unsafe", "(-2)").split()[1:5] == ["1", "(-2)", "0", "(-1)"]
    assert "  skip_all_guards_unsafe: any change" in lines
    assert "not measured: broken=True: its compiled call raised" in lines
    assert "without effect on its guards: quiet=True" in lines


def test_families_are_one_table_the_dearest_guard_first_with_instructions_where_they_were_counted() -> None:
    cheap = GuardReport("tensors", "this", counted(), sweeps=tuple(sweep("tensors", ns) for ns in (9, 10, 11)))
    dear = GuardReport(
        "lists",
        "this",
        counted(),
        sweeps=tuple(sweep("lists", ns) for ns in (20.1, 21.1, 22.1)),
        instructions={8: (1000.0, 1001.0), 64: (17800.0, 17801.0)},
    )
    lines = guard_lines([cheap, dear])
    first, second = lines.index(line(lines, "lists")), lines.index(line(lines, "tensors"))

    assert first < second
    assert lines[first].split()[1] == "3"
    assert "21.1 ns (20.1-22.1, n=3)" in lines[first]
    assert lines[first].endswith("100")  # 16,800 more instructions for 168 more guards
    assert lines[second].endswith("-")
    assert "75 % confidence" in lines[-1]


def test_one_family_alone_shows_its_census_too() -> None:
    alone = GuardReport("tensors", "this", counted(), sweeps=(sweep("tensors", 10),))

    lines = guard_lines([alone])

    assert lines[0].startswith("tensors on torch 2.15.0")
    assert line(lines, "one guard")
    assert lines[-1].endswith("one process, no range")


def test_builds_are_compared_with_the_first_pair_by_pair() -> None:
    lines = guard_build_lines([report("old"), report("new", factor=2.0)])

    assert line(lines, "check ", "4.22 us").endswith("2.00 (2.00-2.00)")
    assert "from old to new: the same census" in lines
    assert ratio((1.0, 2.0, 4.0), (2.0, 2.0, 2.0)).median == 1.0


def test_what_changed_between_builds_is_said_in_words_and_in_numbers() -> None:
    places = PLACES | {"L['x']": Place(("LAMBDA_GUARD",))}
    counts = {**COUNTS, "guards: TENSOR_MATCH": 0, "guards: LAMBDA_GUARD": 2, "guards in Python": 2, "guards in C++": 1}
    lines = guard_build_lines([report("old"), report("new", counted=counted(counts, places))])

    assert "C++ to Python" in line(lines, "TENSOR_MATCH became")
    assert line(lines, "guards in Python", "+1").split()[-3:] == ["1", "2", "+1"]
    assert line(lines, "is_tag_safe lost")


def test_instructions_are_compared_with_those_that_were_counted_in_the_same_way_alone() -> None:
    def counting(build: str, by: str, *counts: float) -> GuardReport:
        return GuardReport("encoder", build, counted(), instructions={8: counts}, counted_by=by)

    old, new, other = (
        counting("old", "callgrind", 100.0, 102.0, 104.0),
        counting("new", "callgrind", 200.0, 204.0, 208.0),
        counting("other", "hardware", 900.0),
    )
    lines = guard_build_lines([old, new, other])
    alike, apart = [index for index, one in enumerate(lines) if one.startswith("instructions per check, by ")]

    assert lines[alike].endswith("by callgrind: the least of three compilations")
    assert lines[alike + 2].split()[-2:] == ["200", "2.0000"]
    assert "900" in lines[apart + 2]
    assert lines[apart + 1].split() == ["other"]


def test_each_filter_and_flag_is_compared_over_builds() -> None:
    lines = guard_build_lines([report("old"), report("new")])

    assert line(lines, "skip_all_guards_unsafe", "0.55").split()[1:] == [
        "1",
        "1",
        "0.55",
        "(0.50-0.60)",
        "0.55",
        "(0.50-0.60)",
    ]


def test_a_build_without_a_census_is_shown_beside_the_others() -> None:
    lines = guard_build_lines([report("old"), GuardReport("encoder", "new", problems={"census": "no torch"})])

    assert lines[:2] == ["old: encoder on torch 2.15.0: 3 guards on 1 value, 1 frame", "new: encoder on new"]
    assert line(lines, "check  ").endswith("-")


def test_json_has_the_census_under_its_name_and_gives_back_every_sample() -> None:
    swept = (sweep("tensors", 10),)
    told = json.loads(json.dumps(to_json([report(sweeps=swept, instructions={8: (5.0, 6.0)}, counted_by="callgrind")])))
    whole = report(sweeps=swept)

    assert told["census"]["guards"] == 3
    assert told["torch"] == "2.15.0"
    assert tuple(read_cost(one) for one in told["cost"]) == whole.costs
    assert tuple(read_sweep(one) for one in told["sweep"]) == swept
    assert tuple(read_subtrees(one) for one in told["subtrees"]) == whole.subtrees
    assert tuple(read_remedy(one) for one in told["remedies"][0]["remedies"]) == whole.remedies[0].remedies
    assert told["instructions"] == {"by": "callgrind", "per check": {"8": [5.0, 6.0]}}
    stored = {"counts": told["census"], "places": told["places"], "unknown": told["unknown"]}
    assert read_census(stored) == Census(COUNTS, PLACES, {"answers: is_new": "it takes arguments"})


def test_json_of_several_targets_is_a_list() -> None:
    told = to_json([report("old"), report("new")])

    assert [one["build"] for one in told["reports"]] == ["old", "new"]  # type: ignore[union-attr, index]  # parsed JSON
