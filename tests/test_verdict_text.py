from pathlib import Path

import pytest
from judgements import GPU_BOX, OTHER_TORCH, finding, judgement, nasty
from results_folder import Folder

from pcbench.analysis.findings import IGNORED, Judgement
from pcbench.analysis.records import Verdict
from pcbench.analysis.verdict_groups import next_steps, visible
from pcbench.analysis.verdict_text import COLUMNS, SHOWN, as_text
from pcbench.commands import main


def test_what_got_worse_comes_first_with_its_numbers_its_rule_and_what_it_was_compared_with() -> None:
    lines = as_text(judgement([finding(Verdict.SAME, "mlp"), finding(Verdict.SLOWER)])).splitlines()

    assert lines == [
        "candidate: 9f8e7d6c in shared-torch2.15.0 on vm",
        "against:   accepted 1a2b3c4d",
        "",
        "SLOWER 1 case [beyond 5%; accepted 1a2b3c4d]",
        "  bench_load.Load.track_first_output(encoder)",
        "    1 s -> 1.25 s",
        "",
        "SAME 1 case",
        "",
        "next: SLOWER: mend it, or if it was meant: pcbench accept 'CASE' --reason TEXT",
        "exit 1: 1 case got worse (1 SLOWER)",
    ]


def test_the_verdicts_come_worst_first() -> None:
    text = as_text(judgement([finding(verdict, str(verdict)) for verdict in Verdict]))

    order = [line.split()[0] for line in text.splitlines() if line[:1].isupper()]
    assert order == [
        "SLOWER",
        "CHANGED",
        "FAILED",
        "MISSING",
        "HOST",
        "UNJUDGED",
        "NEW",
        "INCONCLUSIVE",
        "FASTER",
        "SAME",
    ]


def test_a_reason_that_many_cases_share_is_said_once_and_a_few_of_them_named() -> None:
    text = as_text(judgement([finding(Verdict.UNJUDGED, f"model{i}") for i in range(1240)]))

    assert f"UNJUDGED 1,240 cases [accepted 1a2b3c4d]: {OTHER_TORCH}" in text
    assert text.count("track_first_output") == 3
    assert "and 1,237 more: --all shows them" in text


def test_a_long_list_is_cut_and_all_of_it_is_there_where_it_is_asked_for() -> None:
    many = judgement([finding(Verdict.SLOWER, f"model{i}") for i in range(SHOWN + 35)])

    assert as_text(many).count("track_first_output") == SHOWN
    assert "  and 35 more: --all shows them" in as_text(many).splitlines()
    assert as_text(many, every=True).count("track_first_output") == SHOWN + 35
    assert "--all" not in as_text(many, every=True)


def test_cases_that_are_the_same_or_not_judged_are_a_line_unless_all_are_asked_for() -> None:
    quiet = judgement([finding(Verdict.SAME, f"model{i}") for i in range(3)], ("mlp", "no GPU"), ("llama", "no GPU"))

    assert "SAME 3 cases; not judged 2 cases (on both sides: no GPU)" in as_text(quiet).splitlines()
    assert as_text(quiet).splitlines()[-1] == "exit 0: nothing got worse"
    assert as_text(quiet, every=True).count("track_first_output") == 3
    assert "bench_gone.track(llama)" in as_text(quiet, every=True)


def test_suspects_come_with_the_command_that_decides_them() -> None:
    text = as_text(judgement([finding(Verdict.INCONCLUSIVE)]))

    assert "  decide: pcbench ab 1a2b3c4d 9f8e7d6c 'bench_load.Load.track_first_output(encoder)'" in text.splitlines()
    assert text.splitlines()[-1] == "exit 0: nothing got worse; 1 suspect undecided"


def test_places_are_told_apart() -> None:
    text = as_text(judgement([finding(Verdict.SAME), finding(Verdict.SLOWER, place=GPU_BOX)]))

    assert [line for line in text.splitlines() if line.startswith("==")] == [
        f"== {GPU_BOX}",
        "== shared-torch2.15.0 on vm",
    ]


@pytest.mark.parametrize(
    ("verdicts", "last"),
    [
        ([], "exit 2: nothing was compared"),
        ([Verdict.NEW], "exit 2: nothing that could be judged got worse, but 1 case could not be judged (1 NEW)"),
        (
            [Verdict.CHANGED, Verdict.FAILED, Verdict.HOST],
            "exit 1: 1 case got worse (1 CHANGED); 2 cases could not be judged (1 FAILED, 1 HOST)",
        ),
    ],
)
def test_the_last_line_is_the_outcome_with_its_exit_code(verdicts: list[Verdict], last: str) -> None:
    told = judgement([finding(verdict) for verdict in verdicts])

    assert as_text(told).splitlines()[-1] == last
    assert last.startswith(f"exit {told.exit_code}: ")


def test_lines_fit_a_terminal_and_names_stay_whole() -> None:
    long = "a_name_that_is_long_" * 6
    found = [finding(Verdict.SLOWER, long)] + [finding(Verdict.NEW, f"model{i}") for i in range(30)]
    lines = as_text(judgement(found, notes=["words and " * 30])).splitlines()

    assert [line for line in lines if len(line) > COLUMNS] == [f"  bench_load.Load.track_first_output({long})"]


def test_nothing_in_a_name_reaches_the_terminal_as_a_command() -> None:
    text = as_text(nasty(), every=True)

    assert all(each == "\n" or each.isprintable() for each in text)
    assert "nul\\x00esc\\x1b[31mred" in text
    assert "emoji 🔥" in text
    text.encode()


def test_what_can_be_shown_is_shown_as_it_is() -> None:
    assert visible("größer, 名前, 👩‍🔬") == "größer, 名前, 👩‍🔬"


def test_an_empty_judgement_says_so() -> None:
    assert as_text(Judgement(())).splitlines() == [
        "next: measure the candidate (pcbench bench), then ask again",
        "exit 2: nothing was compared",
    ]


def test_where_the_policy_ignores_every_case_that_is_said_and_not_to_measure_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_text('[[tool.pcbench.policy.case]]\nmatch = "*"\nignore = true\n')
    folder = Folder(Path("results"))
    folder.begin()
    folder.add(1, {"capture.track_breaks": 1})
    main(["accept", "--reason", "first"])
    folder.add(2, {"capture.track_breaks": 2})
    capsys.readouterr()

    assert main(["gate"]) == 2
    said = " ".join(capsys.readouterr().out.split())
    assert "next: the policy ignores all cases: take their ignore out of [tool.pcbench.policy]" in said
    assert "measure the candidate" not in said


def test_where_the_policy_ignores_some_and_the_others_were_not_measured_both_are_said() -> None:
    steps = next_steps(judgement([], ("mlp", IGNORED), ("encoder", "no GPU")))

    assert [step.split(":")[0] for step in steps] == [
        "the policy ignores 1 of 2 cases",
        "measure the candidate (pcbench bench), then ask again",
    ]
