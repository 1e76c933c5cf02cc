"""``--env NAME``: the torch builds that a command is asked to try, one after another."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace

from pcbench import processes, torch_envs
from pcbench.asking import Setting


@dataclass(frozen=True)
class Build:
    """An interpreter with a torch, and what its processes need to import the running pcbench.

    Attributes:
        name: What people call it; ``this`` for the running interpreter.
        python: The interpreter's path.
        env: Environment variables for its processes; None takes one away.
    """

    name: str = torch_envs.THIS
    python: str = sys.executable
    env: Mapping[str, str | None] = field(default_factory=dict)

    def setting(self, setting: Setting) -> Setting:
        """The setting with this build's interpreter."""
        return replace(setting, python=self.python, env={**setting.env, **self.env})


def add_env_argument(parser: argparse.ArgumentParser) -> None:
    """Declare ``--env NAME``, which may be repeated."""
    parser.add_argument(
        "--env",
        action="append",
        metavar="NAME",
        help="a torch build of `pcbench env list`, by its name or its torch version; repeat it to see builds side by "
        f"side; {torch_envs.THIS} is the running interpreter (default)",
    )


@contextmanager
def builds(args: argparse.Namespace) -> Iterator[tuple[Build, ...]]:
    """The builds that ``--env`` named, in that order, each once; else the running interpreter.

    None of them can be removed meanwhile.

    Raises:
        UsageError: There is no such environment.
        PcbenchError: One of them is being made or removed.
    """
    with ExitStack() as stack:
        found = []
        for name in dict.fromkeys(torch_envs.find(name).name for name in args.env or ()):
            if name == torch_envs.THIS:
                found.append(Build())
                continue
            stack.enter_context(torch_envs.held(name))
            folder = stack.enter_context(processes.scratch()) / "packages"
            folder.mkdir()
            found.append(Build(name, torch_envs.find(name).python, torch_envs.exposed(folder)))
        yield tuple(found) or (Build(),)
