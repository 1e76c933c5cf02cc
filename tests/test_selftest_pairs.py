"""The proof of ``pcbench ab``: what it counts, what it says, and that it runs by the way that ``ab`` itself goes."""

from __future__ import annotations

import json
import math
import random
import shutil
import statistics
from pathlib import Path

import pytest

from pcbench.analysis.pairs import Rule
from pcbench.analysis.records import Verdict
from pcbench.analysis.selftest_pairs import CHECKS, LOADS, OURS, Share, Trial, group, records, resample, runs
from pcbench.analysis.selftest_pairs_store import Selftest, from_json, to_json
from pcbench.analysis.selftest_pairs_text import finding, text
from pcbench.commands import _pooled_rules, _selftest_checks, _selftest_loads, main
from pcbench.commands._selftest_measuring import loads_in
from pcbench.errors import ResultsError
from pcbench.reports._selftest_pairs import draw

RULE = Rule(math.log1p(0.02), 20, 0.75)
FINE = Rule(math.log1p(0.01), 20, 0.75)
POLICY = "[tool.pcbench.policy]\npairs = 6\n"


def trial(
    planted: float, verdict: Verdict, *, recorded: bool = False, kind: str = CHECKS, rule: Rule = RULE, other: int = 0
) -> Trial:
    noise = random.Random(3)
    ratios = tuple(math.log1p(planted) + noise.gauss(0, 0.002) for _ in range(10))
    return Trial("bench_checks.time_names", planted, recorded, kind, verdict, rule, ratios, 2.0, {"another": other})


def measured() -> Selftest:
    found = [trial(0.0, Verdict.SAME, other=each) for each in (0, 1, -1, 0)]
    found += [trial(0.03, each, other=1) for each in (Verdict.SLOWER, Verdict.SLOWER, Verdict.INCONCLUSIVE)]
    found += [trial(0.03, Verdict.SLOWER, recorded=True, rule=FINE), trial(0.0, Verdict.SAME, recorded=True, rule=FINE)]
    found += [trial(0.0, Verdict.HOST, kind=LOADS), trial(0.1, Verdict.SLOWER, kind=LOADS)]
    counted = {"0.03": {"bench_checks.time_names": 1.0299}}
    return Selftest(tuple(found), 0.02, 0.01, 0.05, "a machine", counted)


def test_of_the_same_code_any_change_is_false_and_of_a_slow_down_only_slower_is_found() -> None:
    same = group(
        [trial(0.0, each) for each in (Verdict.SLOWER, Verdict.FASTER, Verdict.HOST, Verdict.SAME)], None, 0.01
    )
    slow = group([trial(0.03, each) for each in (Verdict.SLOWER, Verdict.FASTER, Verdict.HOST)], None, 0.01)

    assert same.moved[OURS] == Share(2, 4)
    assert slow.moved[OURS] == Share(1, 3)
    assert slow.verdicts == {Verdict.FASTER: 1, Verdict.SLOWER: 1, Verdict.HOST: 1}


def test_two_hundred_verdicts_without_a_false_one_bound_the_rate_at_one_and_a_half_percent() -> None:
    assert Share(0, 200).bound == pytest.approx(1 - 0.05 ** (1 / 200))
    assert Share(0, 200).bound < 0.015
    assert (Share(0, 200).low, Share(200, 200).high) == (0.0, 1.0)
    assert Share(38, 40).low == pytest.approx(0.831, abs=0.001)


def test_each_case_has_its_turn_at_each_size_and_each_size_gets_its_number_of_verdicts() -> None:
    found = runs([f"case_{n}" for n in range(4)], (0.01, 0.02), 6)

    sizes = [size for planted in found for size in planted.values()]
    assert (sizes.count(0.01), sizes.count(0.02)) == (6, 6)
    assert [planted["case_0"] for planted in found] == [0.01, 0.02, 0.01]


def test_pairs_far_within_the_threshold_give_no_false_verdict_when_drawn_anew_and_wide_ones_do() -> None:
    narrow = resample([trial(0.0, Verdict.SAME)], verdicts=500)
    wide = Trial("a", 0.0, False, CHECKS, Verdict.SAME, Rule(0.001, 3, 0.6), (0.01, -0.01, 0.02, -0.03), 1.0)

    assert (narrow.false, narrow.pools) == (Share(0, 500), 1)
    assert resample([wide], verdicts=500).false.found > 0


def test_a_record_holds_the_last_forty_pairs_of_the_same_code_of_each_case() -> None:
    found = records([trial(0.0, Verdict.SAME) for _ in range(5)] + [trial(0.03, Verdict.SLOWER)])

    assert list(map(len, found.values())) == [40]
    assert max(map(abs, found["bench_checks.time_names"])) < 0.01


def test_what_was_measured_comes_back_from_its_file_and_another_file_is_refused() -> None:
    again = from_json(to_json(measured()), "x.json")

    assert text(again) == text(measured())
    assert again.trials == measured().trials
    with pytest.raises(ResultsError, match=r"x\.json has schema 9"):
        from_json(json.dumps({"schema": 9}), "x.json")
    with pytest.raises(ResultsError, match=r"x\.json is no selftest"):
        from_json("[]", "x.json")


def test_the_tables_say_what_was_found_what_bounds_what_and_what_other_rules_say() -> None:
    told = text(measured())

    assert "0 of 4 verdicts on the same code were false" in told
    assert "resampled: 0 of 4,000 verdicts" in told
    assert "beyond 1% where they allow it, in 2 of 2 verdicts" in told
    another = next(line for line in told.splitlines() if line.strip().startswith("another"))
    assert "50.0%" in another
    assert "100.0%" in another
    assert "+2.99%" in told
    assert "counted: unavailable" not in told
    assert finding(measured()).startswith("3% slower is found in 67% without a record and 100% with 40 pairs on record")


def test_markdown_tables_have_as_many_cells_in_each_row() -> None:
    rows = [line for line in text(measured(), markdown=True).splitlines() if line.startswith("|")]

    assert {row.count("|") for row in rows if "SLOWER" in row or "same code" in row} <= {13, 4}
    assert len(rows) > 10


def test_the_figure_has_a_line_for_each_rule_and_none_without_verdicts() -> None:
    figure = draw(measured())

    assert figure is not None
    legend = figure.axes[0].get_legend()
    assert legend is not None
    assert [each.get_text()[:12] for each in legend.get_texts()] == [*2 * ["pcbench ab, "], "another"]
    assert draw(Selftest((), 0.02, 0.01, 0.05, "a machine")) is None


def test_pooled_rules_tell_slower_from_faster_and_asv_hides_what_is_below_its_factor() -> None:
    noise = random.Random(5)
    one, other = ([[level + noise.random() / 50 for _ in range(12)] for _ in range(4)] for level in (1.0, 1.05))

    assert _pooled_rules.said(one, other) == {
        "asv continuous": 0,
        "asv, factor 1.0": 1,
        "Mann-Whitney, p < 0.01": 1,
        "Mann-Whitney, p < 0.002": 1,
    }
    assert set(_pooled_rules.said(other, one).values()) == {0, -1}


@pytest.fixture
def small_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("_FUNCTIONS", 2), ("_NUMBERS", 10), ("_ROUND", 1_000)):
        monkeypatch.setattr(_selftest_loads, name, value)


@pytest.mark.usefixtures("small_loads")
def test_sides_of_loads_have_folders_of_one_length_whatever_is_planted(tmp_path: Path) -> None:
    ground = loads_in(tmp_path)
    case = ground.cases[0]

    sides = [ground.write_side(tmp_path / name, {case: size}) for name, size in (("a-tree", 0.0), ("b-tree", 0.1))]

    assert len({len(str(side)) for side in sides}) == 1


@pytest.mark.usefixtures("small_loads")
def test_sides_of_loads_differ_by_what_was_planted_in_each_of_their_parts(tmp_path: Path) -> None:
    parts = []
    for planted in (0.0, 0.1):
        side = _selftest_loads.write_side(tmp_path / f"{planted}", planted)
        main_file = (side / _selftest_loads.PACKAGE / "__main__.py").read_text()
        parts.append(main_file.split("PARTS = ")[1].splitlines()[0])

    assert parts == [
        repr(_selftest_loads.LOADS),
        repr({k: tuple(round(1.1 * n) for n in v) for k, v in _selftest_loads.LOADS.items()}),
    ]


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="there is no valgrind here")
def test_what_is_planted_is_what_callgrind_counts(tmp_path: Path) -> None:
    checks = ("attributes", "type_loop")
    plain = _selftest_checks.instructions(_selftest_checks.write_side(tmp_path / "plain", {}), checks)
    slower = _selftest_checks.write_side(tmp_path / "slower", dict.fromkeys(checks, 0.05))
    counted = _selftest_checks.instructions(slower, checks)

    for check in checks:
        assert counted[check] / plain[check] == pytest.approx(1.05, abs=0.005)


def test_help_says_what_each_option_does(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["selftest", "pairs", "--help"])
    assert "with 10% planted" in " ".join(capsys.readouterr().out.split())


def test_what_cannot_be_measured_is_refused_before_anything_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["selftest", "pairs", "--checks", "99"]) == 2
    assert "there are 20 checks, not 99" in capsys.readouterr().err
    assert main(["selftest", "pairs", "--only-loads"]) == 2
    assert "leaves nothing to measure" in capsys.readouterr().err


@pytest.mark.slow
def test_a_selftest_by_the_way_of_ab_finds_what_is_far_beyond_the_threshold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text(POLICY)
    words = (
        "selftest pairs --same-code 2 --verdicts 2 --planted 100 --checks 2 --no-record --json a.json --figure a.png"
    )

    assert main(words.split()) == 0
    told = json.loads((tmp_path / "a.json").read_text())
    assert [each["planted"] for each in told["trials"]] == [0.0, 0.0, 1.0, 1.0]
    for each in told["trials"][2:]:
        assert each["verdict"] in ("SLOWER", "HOST")  # the machine itself may change in so few pairs
        assert statistics.median(each["ratios"]) > math.log(1.3)
    assert all(each["others"] for each in told["trials"])
    assert (tmp_path / "a.png").stat().st_size > 10_000
    shown = capsys.readouterr().out
    assert main(["selftest", "pairs", "--from", "a.json"]) == 0
    assert capsys.readouterr().out == shown


@pytest.mark.slow
@pytest.mark.usefixtures("small_loads")
def test_loads_are_judged_by_the_plan_for_slow_cases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.pcbench.policy]\nslow_pairs = 6\nslow_s = 0.001\n")

    assert main(["selftest", "pairs", "--only-loads", "--loads", "1", "--json", "a.json"]) == 0
    told = json.loads((tmp_path / "a.json").read_text())
    assert [(each["kind"], each["planted"]) for each in told["trials"]] == [(LOADS, 0.0), (LOADS, 0.1)]
    assert {(each["rule"]["pairs"], each["rule"]["quorum"]) for each in told["trials"]} == {(6, 0.7)}
