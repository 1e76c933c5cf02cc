"""The shape of the code: sizes, import directions, what is shipped, and what the documents say of it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from pcbench import discovery, torch_api, torch_names
from pcbench.commands import command_names

ROOT = Path(__file__).parent.parent
CAP = 250
SAYS_NOTHING = {"util", "utils", "common", "helper", "helpers", "misc", "base", "core", "manager"}


def modules() -> list[Path]:
    return [p for top in ("pcbench", "kernels", "benchmarks", "tests") for p in (ROOT / top).rglob("*.py")]


def test_no_module_passes_the_cap() -> None:
    lines = {str(p.relative_to(ROOT)): len(p.read_text().splitlines()) for p in modules()}
    largest = sorted(lines.items(), key=lambda item: -item[1])[:5]
    print("largest:", *largest)

    assert [name for name, count in largest if count > CAP] == []


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert [p for p in modules() if p.stem.lstrip("_") in SAYS_NOTHING] == []


def test_imports_point_one_way() -> None:
    linter = shutil.which("lint-imports", path=str(Path(sys.executable).parent))
    assert linter is not None
    ended = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)

    assert ended.returncode == 0, ended.stdout


@pytest.mark.slow
def test_the_wheel_ships_kernels_as_pcbench_kernels_and_nothing_called_kernels(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    for name in ("pcbench", "kernels"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree / name)
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(tree)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    inside = tmp_path / "inside"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(inside)
        names = archive.namelist()

    assert not any(name.startswith("kernels/") for name in names)
    shipped = {name for name in names if name.endswith(".py")}
    here = {p.relative_to(ROOT).as_posix() for top in ("pcbench", "kernels") for p in (ROOT / top).rglob("*.py")}
    assert shipped == {name.replace("kernels/", "pcbench_kernels/") for name in here}
    code = (
        "import importlib.util as u, pcbench;"
        "print(u.find_spec('kernels'), u.find_spec('pcbench_kernels').origin, pcbench.__file__)"
    )
    told = subprocess.run(
        [sys.executable, "-S", "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(inside)},
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    assert told[0] == "None"
    assert all(place.startswith(str(inside)) for place in told[1:])


@pytest.mark.parametrize("name", command_names())
def test_readme_names_every_command(name: str) -> None:
    assert f"pcbench {name}" in (ROOT / "README.md").read_text()


@pytest.mark.parametrize("name", [*discovery.model_names(), *discovery.strategy_names()])
def test_readme_names_every_model_and_strategy(name: str) -> None:
    assert f"`{name}`" in (ROOT / "README.md").read_text()


def test_the_pictures_that_the_documents_show_are_there() -> None:
    for document in (ROOT / "README.md", ROOT / "CONTRIBUTING.md"):
        for target in re.findall(r"\]\(([^)#]+)\)", document.read_text()):
            assert target.startswith("http") or (ROOT / target).exists(), target


def test_private_torch_names_are_spelled_in_one_place() -> None:
    private = re.compile(r"\btorch(\.\w+)*\._(?!_)\w+")
    found = []
    for path in (ROOT / "pcbench").rglob("*.py"):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if private.search(line) and path.name not in ("torch_api.py", "torch_names.py"):
                found.append(f"{path.relative_to(ROOT)}:{number}")

    assert found == []


def test_every_private_torch_name_is_there_on_the_pinned_torch() -> None:
    assert torch_api.missing() == []


def test_a_torch_name_that_is_gone_is_told_with_what_it_was_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(torch_names.NAMES, "gone", torch_names.Name("torch._gone", "away", "a test", ("2.15.0",)))

    assert torch_api.missing() == ["this torch has no torch._gone.away, needed for a test"]
