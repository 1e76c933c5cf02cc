"""``pcbench env``: torch builds side by side, each with an interpreter of its own."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from pcbench import interpreters, processes, torch_envs
from pcbench.commands import Command
from pcbench.commands._argument_types import above_0
from pcbench.commands._env_listing import json_text, lines, table
from pcbench.commands._env_making import STEPS, Asked, asked_of, interpreter, make, read_asked
from pcbench.commands._progress import steps
from pcbench.errors import PcbenchError, UnavailableError, UsageError
from pcbench.torch_envs import THIS

_ROOM_GB = 6.5
_NAME = re.compile(r"[A-Za-z0-9][\w.+-]*")
_WAIT_S = 5.0


class _Parser(argparse.ArgumentParser):
    """Keeps the words after ``--`` for another program, which argparse would sort among the options."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        words = list(args)
        cut = words.index("--") if "--" in words else len(words)
        found, left = super().parse_known_args(words[:cut], namespace)
        found.words = tuple(words[cut + 1 :])
        return found, left


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare env's subcommands."""
    subs = parser.add_subparsers(dest="do", metavar="DO", required=True, parser_class=_Parser)
    add = subs.add_parser(
        "add",
        help="make an environment with a torch release, or adopt an interpreter that has a torch",
        usage="pcbench env add [-h] [--name NAME] [--with-python PYTHON] [--room GB] RELEASE [-- PIP_OPTION ...]\n"
        "       pcbench env add [-h] [--name NAME] --python PYTHON",
    )
    add.add_argument("release", nargs="?", metavar="RELEASE", help="a torch version that pip finds, such as 2.11.0")
    add.add_argument("--name", help="what to call it (default: the release, or the adopted torch's version)")
    add.add_argument("--python", metavar="PYTHON", help="adopt this interpreter: a nightly, an own build")
    add.add_argument("--with-python", metavar="PYTHON", help="make it with this Python (default: the running one)")
    add.add_argument(
        "--room",
        type=above_0("GB"),
        default=_ROOM_GB,
        metavar="GB",
        help=f"what must be free on its disk (default: {_ROOM_GB})",
    )
    listed = subs.add_parser("list", help="the environments, and what each holds")
    listed.add_argument("--json", action="store_true", help="print JSON instead of a table")
    remove = subs.add_parser("remove", help="remove an environment; an adopted interpreter is only forgotten")
    remove.add_argument("name", metavar="NAME")
    ran = subs.add_parser(
        "run",
        help="run an environment's Python, with the running pcbench importable",
        usage="pcbench env run [-h] NAME -- PYTHON_WORD ...",
    )
    ran.add_argument("name", metavar="NAME")


def run(args: argparse.Namespace) -> int:
    """Add, list, remove or run; 0 when it was done."""
    if args.words and args.do in ("list", "remove"):
        raise UsageError(f"env {args.do} takes no words after --")
    return {"add": _add, "list": _list, "remove": _remove, "run": _run}[args.do](args)


def _add(args: argparse.Namespace) -> int:
    if (args.release is None) == (args.python is None):
        raise UsageError("give either a torch release to make or --python to adopt", hint="pcbench env add 2.11.0")
    return _made(args) if args.python is None else _adopted(args)


def _made(args: argparse.Namespace) -> int:
    name = _checked(args.name or args.release)
    asked = asked_of(args.release, args.with_python, args.words)
    with torch_envs.held(name, alone=True, wait_s=_WAIT_S) as lock:
        folder = torch_envs.root() / name
        if (folder / torch_envs.RECORD).is_file() and not _lacking(name, folder, asked):
            return 0
        if (folder / torch_envs.MARKER).is_file():
            print(f"pcbench: going on with {name}, which was interrupted", file=sys.stderr)
        elif args.name is None and not args.words and args.with_python is None:
            serves = torch_envs.serving(name)
            if serves is not None:
                print(f"torch {name} is there already: `{serves.name}` ({serves.python}); --name makes one more")
                return 0
        with steps(STEPS) as step:
            record = make(folder, asked, lock, step, room_gb=args.room)
    _say_added(name, record["torch"], record["torch_git"])
    return 0


def _lacking(name: str, folder: Path, asked: Asked) -> tuple[str, ...]:
    """What a made environment has come to lack since; without that, say that it is there."""
    record = torch_envs.read_record(folder / torch_envs.RECORD)
    if record["kind"] != "made" or not read_asked(record).serves(asked):
        held = record["python"] if record["kind"] == "adopted" else f"Python {record['made_with']}"
        words = f", with {' '.join(record['options'])}" if record.get("options") else ""
        raise UsageError(
            f"there is another environment {name}: torch {record['torch']}, {held}{words}",
            hint=f"give this one another --name, or `pcbench env remove {name}` first",
        )
    found = interpreters.require_torch(torch_envs.find(name).python)
    lacking = f", but lacks {', '.join(found.lacking)}" if found.lacking else ""
    print(f"{name} is there already: torch {found.torch} (git {found.torch_git}){lacking}")
    return found.lacking


def _adopted(args: argparse.Namespace) -> int:
    if args.words or args.with_python is not None:
        raise UsageError("--python adopts an interpreter as it is: no --with-python, no words after --")
    python = interpreter(args.python)
    found = interpreters.require_torch(python)
    if found.torch is None or found.torch_git is None:
        raise UnavailableError(f"the torch of {python} does not say its version and git version")
    name = _checked(args.name or found.torch)
    with torch_envs.held(name, alone=True, wait_s=_WAIT_S):
        folder = torch_envs.root() / name
        if torch_envs.named(name) is not None:
            there = torch_envs.find(name)
            if there.kind != "adopted" or there.python != python:
                raise UsageError(f"there is another environment {name}: {there.python}", hint="give another --name")
            print(f"{name} is there already: torch {found.torch} (git {found.torch_git})")
            return 0
        folder.mkdir(exist_ok=True)
        record = {"kind": "adopted", "python": python, "torch": found.torch, "torch_git": found.torch_git}
        torch_envs.write_record(folder / torch_envs.RECORD, record)
    _say_added(name, found.torch, found.torch_git)
    if found.lacking:
        print(f"it lacks {', '.join(found.lacking)}: {python} -m pip install {' '.join(found.lacking)}")
    return 0


def _say_added(name: str, torch: object, torch_git: object) -> None:
    print(f"{name}: torch {torch} (git {torch_git})")
    for line in lines():
        if line.env.name != name and line.facts is not None and line.facts.torch_git == torch_git:
            print(f"the same torch build as {line.env.name}")


def _checked(name: str) -> str:
    if name == THIS or not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} cannot name an environment", hint="letters, digits and . _ + - after the first")
    return name


def _list(args: argparse.Namespace) -> int:
    print(json_text() if args.json else "\n".join(table()))
    return 0


def _remove(args: argparse.Namespace) -> int:
    env = torch_envs.named(args.name)
    if env is None:
        there = ", ".join(env.name for env in torch_envs.known()) or "none"
        raise UsageError(f"there is no environment {args.name}", hint=f"there are: {there}")
    with torch_envs.held(env.name, alone=True):
        torch_envs.discard(torch_envs.root() / env.name)
    print(f"forgot {env.name}; {env.python} is as it was" if env.kind == "adopted" else f"removed {env.name}")
    return 0


def _run(args: argparse.Namespace) -> int:
    name = torch_envs.find(args.name).name
    with torch_envs.held(name), processes.scratch() as folder:
        env = torch_envs.find(name)  # it may have been removed before it was held
        (folder / "packages").mkdir()
        variables = os.environ | torch_envs.exposed(folder / "packages")
        known = {name: value for name, value in variables.items() if value is not None}
        ended = subprocess.run([env.python, "-P", *args.words], env=known, check=False)
    if ended.returncode < 0:
        raise PcbenchError(f"{env.python} was killed by signal {-ended.returncode}")
    return ended.returncode


COMMAND = Command(
    help="torch builds side by side: make one by its release, adopt an interpreter, list, remove, run",
    add_arguments=add_arguments,
    run=run,
)
