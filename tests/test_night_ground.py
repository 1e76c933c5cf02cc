"""Which commits lie between two, and which build a night over builds compares with."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import git_history
import pytest
from git_history import Repository
from results_folder import Folder, commit_of

from pcbench.analysis.findings import Finding
from pcbench.analysis.policy import Policy
from pcbench.analysis.records import Case, Verdict
from pcbench.analysis.series import Place
from pcbench.commands import _night_asv, _night_locating, main
from pcbench.commands._night_ground import Ground, between
from pcbench.errors import PcbenchError

NEWEST = "shared-torch2.16.0"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return git_history.new(tmp_path, {})


def test_the_commits_between_two_are_those_of_the_branch_oldest_first(repository: Repository) -> None:
    first, second, third = (repository.commit({"a": text}) for text in "abc")

    assert between(repository.root, first, third) == [second, third]
    assert between(repository.root, third, first) == []
    assert between(repository.root, first, first) == []


def test_between_branches_that_went_apart_lies_nothing(repository: Repository) -> None:
    repository.commit({"a": "a"})
    repository.git("checkout", "-q", "-b", "aside")
    aside = repository.commit({"b": "b"})
    repository.git("checkout", "-q", "main")
    repository.commit({"c": "c"})
    last = repository.commit({"c": "d"})

    assert between(repository.root, aside, last) == []


def test_what_came_in_by_a_merge_is_one_commit_and_no_start(repository: Repository) -> None:
    first = repository.commit({"a": "a"})
    repository.git("checkout", "-q", "-b", "aside")
    aside = repository.commit({"b": "b"})
    repository.git("checkout", "-q", "main")
    second = repository.commit({"c": "c"})
    repository.git("merge", "-q", "--no-ff", "-m", "merge", "aside")
    last = repository.git("rev-parse", "HEAD")

    assert between(repository.root, first, last) == [second, last]
    assert between(repository.root, aside, last) == []


def test_git_is_asked_about_the_checkout_also_from_within_a_hook(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = repository.commit({"a": "a"}), repository.commit({"a": "b"})
    other = git_history.new(tmp_path / "other", {})
    monkeypatch.setenv("GIT_DIR", str(other.root / ".git"))

    assert between(repository.root, first, second) == [second]


@pytest.fixture
def builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Folder, Ground]:
    """The same commit on several builds; what is by name the last was accepted first."""
    monkeypatch.setattr(_night_locating, "resolve", lambda root, name: commit_of(int(name[:8], 16)))
    monkeypatch.chdir(tmp_path)
    folder = Folder(tmp_path / "results")
    folder.begin()
    for torch in ("2.9.0", "2.14.0", "2.15.0"):
        environment = f"shared-torch{torch}"
        folder.add(1, {"capture.track_breaks": 1}, environment=environment, torch=torch)
        assert main(["accept", "--reason", "it", "--env", environment]) == 0
    text = (folder.root / "BASELINE").read_text()
    for day, torch in enumerate(("2.9.0", "2.15.0", "2.14.0"), 1):
        place = text.index(f"shared-torch{torch} on lab")
        at = text.index('"date": "', place) + len('"date": "')
        text = f"{text[:at]}2026-01-{day:02}{text[at + 10 :]}"
    (folder.root / "BASELINE").write_text(text)
    folder.add(1, {"capture.track_breaks": 2}, environment=NEWEST, torch="2.16.0")
    pythons = dict.fromkeys(("2.9.0", "2.14.0", "2.15.0", "2.16.0"), "python")
    conf = SimpleNamespace(shared_pythons=pythons, env_dir=".asv/env")
    ground = Ground(
        tmp_path, folder.root, tmp_path / ".asv", "lab", "quick", Policy(), conf, env="2.16.0", torch="2.16.0"
    )
    return folder, ground


def finding(against: str = "accepted 00000001") -> Finding:
    return Finding(Case("capture.track_breaks"), Verdict.SLOWER, "", Place("lab", NEWEST), against=against)


def test_another_build_is_compared_with_the_one_that_was_accepted_last_as_the_gate_does(
    builds: tuple[Folder, Ground],
) -> None:
    base = _night_locating.base_of(builds[1], finding())

    assert base is not None
    assert (base.commit, base.torch, base.env) == (commit_of(1), "2.14.0", "2.14.0")


def test_a_build_that_may_not_be_compared_is_passed_over(builds: tuple[Folder, Ground]) -> None:
    folder, ground = builds
    folder.add(1, {"capture.track_breaks": 1}, environment="shared-torch2.14.0", torch="2.14.0", threads=7)

    base = _night_locating.base_of(ground, finding())

    assert base is not None
    assert base.torch == "2.15.0"


def test_pairs_have_a_place_beside_a_result_alone(builds: tuple[Folder, Ground]) -> None:
    _, ground = builds

    path = _night_locating.pairs_path(ground, commit_of(7), commit_of(1), Place("lab", NEWEST))
    assert path.name == f"{commit_of(7)[:8]}-{NEWEST}.pairs"
    with pytest.raises(PcbenchError, match="00000009 has no result in elsewhere on lab"):
        _night_locating.pairs_path(ground, commit_of(9), commit_of(9), Place("lab", "elsewhere"))


def test_stored_numbers_of_another_environment_name_no_commit(builds: tuple[Folder, Ground]) -> None:
    folder, ground = builds
    for number, breaks in ((2, 1), (3, 2)):
        folder.add(number, {"capture.track_breaks": breaks}, environment=NEWEST, torch="2.16.0")
        folder.add(number, {"capture.track_breaks": 5}, environment="shared-torch2.14.0", torch="2.14.0")
    folder.add(1, {"capture.track_breaks": 1}, environment=NEWEST, torch="2.16.0")
    chain = [commit_of(number) for number in (1, 2, 3)]

    assert _night_locating._stored(ground, finding(), chain) == {0: False, 1: False, 2: True}


def test_a_case_that_the_budget_left_out_is_said_in_the_sidecar(builds: tuple[Folder, Ground]) -> None:
    _, ground = builds
    beside = ground.results / "lab" / f"{commit_of(1)[:8]}-{NEWEST}.context"
    other = ground.results / "lab" / f"{commit_of(1)[:8]}-shared-torch2.9.0.context"

    _night_asv.tell_left_out(ground, commit_of(1), ["guards.track_instructions"])

    told = '{"case": "guards.track_instructions", "status": "LEFT_OUT", "reason": "the night\'s budget;'
    assert told in beside.read_text()
    assert "LEFT_OUT" not in other.read_text()


def test_the_configuration_of_a_killed_night_is_taken_away(tmp_path: Path) -> None:
    (tmp_path / _night_asv._CONF).touch()
    _night_asv.clean(tmp_path)
    _night_asv.clean(tmp_path)

    assert list(tmp_path.iterdir()) == []
