"""What several cases of asv need of one process, taken once and kept until each has had it. Needs no torch.

It is kept in PCBENCH_STORE's folder, which asv's environment makes anew for each run and commit, and so is the reason
where there was nothing to take.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pcbench import processes
from pcbench.errors import PcbenchError, UnavailableError
from pcbench.sample_store import Absent
from pcbench.status import Status
from pcbench.whole_files import write_whole

_UNSAFE = re.compile(r"[^\w.-]")


def taken_once(record: str, use: str, take: Callable[[], Any]) -> Any:
    """What was taken for another use and not yet used for this one, else what ``take`` gives now, as JSON has it.

    Args:
        record: What is taken, such as ``guards-census-bert``; its name in the folder.
        use: Who takes it; where the same use comes again, it is taken anew.

    Raises:
        Absent: There was nothing to take, for this reason.
    """
    with _folder() as folder:
        file = folder / f"{_UNSAFE.sub('_', record)}.json"
        if not file.is_file() or use in json.loads(file.read_text())["used"]:
            _write(file, {"used": []} | _outcome(take))
        known = json.loads(file.read_text())
        known["used"].append(use)
        _write(file, known)
    if "absent" in known:
        raise Absent(*known["absent"])
    return known["taken"]


def _write(file: Path, known: dict[str, Any]) -> None:
    write_whole(file, json.dumps(known).encode())


def _outcome(take: Callable[[], Any]) -> dict[str, Any]:
    try:
        return {"taken": take()}
    except Absent as absent:
        return {"absent": (absent.status, absent.reason)}
    except UnavailableError as error:
        return {"absent": (Status.UNAVAILABLE, error.problem)}
    except PcbenchError as error:
        return {"absent": ("FAILED", str(error))}


@contextmanager
def _folder() -> Iterator[Path]:
    shared = os.environ.get("PCBENCH_STORE")
    if shared:
        Path(shared).mkdir(parents=True, exist_ok=True)
        yield Path(shared)
    else:
        with processes.scratch() as folder:
            yield folder
