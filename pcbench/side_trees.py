"""The code of a side: a commit checked out apart, or a folder as it is, and the folder to import it from."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from pcbench.errors import PcbenchError

_LACKING = '''"""Stands for a package that the measured code lacks: no installed one is measured in its place."""

raise ModuleNotFoundError("this side has no folder {folder}", name={name!r})
'''


def resolve(root: Path, commit: str) -> str | None:
    """The whole hash of a commit; None where git takes it for none."""
    return git(root, "rev-parse", "--quiet", "--verify", "--end-of-options", f"{commit}^{{commit}}")


def checked_out(root: Path, commit: str, place: Path) -> Path:
    """The folder of a commit that stands where ``root`` stands in the repository.

    Raises:
        PcbenchError: git cannot check it out.
    """
    objects = git(root, "rev-parse", "--path-format=absolute", "--git-path", "objects")
    prefix = git(root, "rev-parse", "--show-prefix")
    place.mkdir()
    if objects is None or prefix is None or git(place, "init", "-q", "--template=", ".") is None:
        raise PcbenchError(f"git cannot borrow the objects of {root}")
    # A worktree would be an entry in the user's repository, and stay there when this process is killed.
    (place / ".git" / "objects" / "info").mkdir(parents=True, exist_ok=True)
    (place / ".git" / "objects" / "info" / "alternates").write_text(f"{objects}\n")
    words = ["git", "checkout", "-q", "--detach", commit]
    done = subprocess.run(words, cwd=place, env=_plain_git(), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["git said nothing"])[-1]
        raise PcbenchError(f"commit {commit[:8]} cannot be checked out: {last}")
    return place / prefix


def clean_commit(tree: Path, packages: Mapping[str, str]) -> str | None:
    """The commit that a folder is a checkout of; None where it is none, or what is measured there is another."""
    whole = resolve(tree, "HEAD")
    paths = [folder for folder in packages.values() if (tree / folder).exists()] or ["."]
    if whole is None or git(tree, "status", "--porcelain", "--", *paths) != "":
        return None
    # git says nothing of what it ignores: a copy of the code in there is no checkout of HEAD.
    return whole if all(git(tree, "ls-files", "--", path) for path in paths) else None


def exposed(tree: Path, packages: Mapping[str, str], links: Path, python: str) -> Path:
    """The folder to import from: the tree, or one of links to its measured packages, as asv's environment has it."""
    if not packages:
        return tree
    links.mkdir()
    for package, folder in packages.items():
        if (tree / folder).is_dir():
            (links / package).symlink_to(tree / folder, target_is_directory=True)
        else:
            (links / package).mkdir()
            text = _LACKING.format(folder=folder, name=package)
            (links / package / "__init__.py").write_text(text)
    # A fresh checkout has no bytecode; compiling it would fall on the first pair's clock.
    compiled = [str(links / package) for package in packages]
    subprocess.run([python, "-P", "-m", "compileall", "-qq", *compiled], check=False)
    return links


def _plain_git() -> dict[str, str]:
    """The environment without what a git hook has in it: it would name the user's repository."""
    return {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}


def git(folder: Path, *words: str) -> str | None:
    """What git says in a folder, or None where it fails; a hook's variables do not lead it to another repository.

    Raises:
        PcbenchError: There is no git.
    """
    try:
        done = subprocess.run(
            ["git", *words], cwd=folder, env=_plain_git(), capture_output=True, text=True, check=False
        )
    except FileNotFoundError as error:
        raise PcbenchError("git is not installed", hint="commits are read with it") from error
    return done.stdout.strip() if done.returncode == 0 else None
