"""Instructions counted without hardware counters: a process under valgrind's callgrind counts calls of its own.

Its counts go through five client requests, which only C can make: a library of five functions is built for them.
"""

from __future__ import annotations

import ctypes
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pcbench.errors import PcbenchError, UnavailableError

FOLDER = "PCBENCH_CALLGRIND"
"""Names the folder of :func:`prepare` to the process, in its environment."""

Count = Callable[[Callable[[], object]], int]
"""The instructions that a call takes, with those of taking the count."""

_HEADER = "valgrind/callgrind.h"
_SOURCE = f"""\
#include <{_HEADER}>
unsigned running(void) {{ return RUNNING_ON_VALGRIND; }}
void start(void) {{ CALLGRIND_START_INSTRUMENTATION; }}
void stop(void) {{ CALLGRIND_STOP_INSTRUMENTATION; }}
void zero(void) {{ CALLGRIND_ZERO_STATS; }}
void dump(void) {{ CALLGRIND_DUMP_STATS; }}
"""
_LIBRARY, _COUNTS = "requests.so", "counts"
_TOTALS = re.compile(r"^totals: (\d+)$", re.MULTILINE)


def prepare(folder: Path) -> tuple[str, ...]:
    """The words before those of a process that is to run under callgrind; its library is built in ``folder``.

    Until it counts, and between counts, such a process runs some 10 times slower than on its own.

    Raises:
        UnavailableError: There is no valgrind, no header of it, or no C compiler.
    """
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        raise UnavailableError("there is no valgrind here", hint="install the package valgrind")
    compiler = shlex.split(os.environ.get("CC", "cc"))
    if not compiler or shutil.which(compiler[0]) is None:
        raise UnavailableError(
            "there is no C compiler here to build callgrind's requests with", hint="install gcc, or name one in CC"
        )
    source = folder / "requests.c"
    source.write_text(_SOURCE)
    command = [*compiler, "-shared", "-fPIC", "-O1", "-o", str(folder / _LIBRARY), str(source)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if built.returncode != 0:
        raise _unbuilt(compiler[0], built.stderr)
    return valgrind, "--tool=callgrind", "--quiet", "--instr-atstart=no", f"--callgrind-out-file={folder / _COUNTS}"


def _unbuilt(compiler: str, said: str) -> UnavailableError:
    if _HEADER in said:
        return UnavailableError(
            f"{compiler} finds no header {_HEADER}", hint="install the package valgrind, or valgrind-devel where it is"
        )
    error = next((line for line in said.splitlines() if "error" in line), "it does not say why")
    return UnavailableError(f"{compiler} cannot build callgrind's requests: {error}", hint="name another one in CC")


@contextmanager
def counting(folder: Path) -> Iterator[Count]:
    """Count instructions of this process, all its threads', while the body runs.

    Args:
        folder: That of :func:`prepare`.

    Raises:
        UnavailableError: This process does not run under callgrind.
        PcbenchError: A count did not come.
    """
    requests = ctypes.CDLL(str(folder / _LIBRARY))
    if not requests.running():
        raise UnavailableError("this process does not run under callgrind", hint="start it by the words of prepare()")

    def count(call: Callable[[], object]) -> int:
        requests.zero()
        call()
        requests.dump()
        return read(folder)

    requests.start()
    try:
        yield count
    finally:
        requests.stop()


def read(folder: Path) -> int:
    """The one count that is in the folder, which is then taken out.

    Raises:
        PcbenchError: There is none, or it cannot be read.
    """
    dumps = list(folder.glob(f"{_COUNTS}.*"))
    totals = [_TOTALS.search(dump.read_text()) for dump in dumps]
    if len(totals) != 1 or totals[0] is None:
        raise PcbenchError(f"callgrind left {len(dumps)} counts in {folder}, not one that says its totals")
    dumps[0].unlink()
    return int(totals[0].group(1))
