"""The subcommands, one file each, ending in ``COMMAND = Command(...)``; ``main()`` imports only the one asked for."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import pcbench
from pcbench import discovery
from pcbench.errors import PcbenchError, UsageError


@dataclass(frozen=True)
class Command:
    """A subcommand.

    Attributes:
        help: One sentence for ``pcbench --help``.
        add_arguments: Declares its arguments.
        run: Does it and returns the exit code: 0 done, 1 something got worse, 2 could not do or judge what was asked.
    """

    help: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


def command_names() -> tuple[str, ...]:
    """Names of the subcommands."""
    return discovery.names(Path(__file__).parent)


def parser(names: Sequence[str]) -> argparse.ArgumentParser:
    """The command line with the subcommands ``names``."""
    top = argparse.ArgumentParser(
        prog="pcbench", description=pcbench.__doc__.splitlines()[0] if pcbench.__doc__ else None
    )
    top.add_argument("--version", action="version", version=f"pcbench {pcbench.__version__}")
    subparsers = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in names:
        command = discovery.load("pcbench.commands", name, "COMMAND", Command)
        sub = subparsers.add_parser(name, help=command.help, description=command.help)
        command.add_arguments(sub)
        sub.set_defaults(run=command.run)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run a subcommand and return its exit code; errors are said on stderr, without a traceback."""
    words = list(sys.argv[1:] if argv is None else argv)
    known = command_names()
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, _interrupt)
    try:
        if words and not words[0].startswith("-"):
            discovery.check_name("command", words[0], known)
        asked = [word for word in words[:1] if word in known] or known
        args, unknown = parser(asked).parse_known_args(words)
        if unknown:
            raise _not_taken(unknown[0], args.command)
        code: int = args.run(args)
        sys.stdout.flush()
    except PcbenchError as error:
        print(f"pcbench: {error.problem}", file=sys.stderr)
        if error.hint is not None:
            print(f"         {error.hint}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("pcbench: interrupted", file=sys.stderr)
        return 2
    except BrokenPipeError:
        return _reader_left()
    except OSError as error:
        print(f"pcbench: {error.filename or 'the system'}: {error.strerror or error}", file=sys.stderr)
        return 2
    return code


def _not_taken(word: str, command: str) -> UsageError:
    """Of a word that no argument takes: an option that there is not, or a name after argparse has had enough names."""
    if word.startswith("-"):
        return UsageError(f"pcbench {command} has no option {word}", hint=f"`pcbench {command} --help` lists them")
    return UsageError(f"pcbench {command} takes no {word!r} there", hint="names come first, and options after them")


def _reader_left() -> int:
    # The reader of a pipe left, as `| head` does; without this, the flush at exit would complain once more.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 2


def _interrupt(signum: int, frame: FrameType | None) -> None:  # noqa: ARG001  # a signal handler's signature
    raise KeyboardInterrupt
