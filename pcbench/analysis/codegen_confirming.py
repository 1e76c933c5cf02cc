"""What would confirm a change: the command to run where one does, else in words."""

from __future__ import annotations

from collections.abc import Sequence

from pcbench.analysis.cards import names_by_target
from pcbench.analysis.codegen_changes import targets_of
from pcbench.analysis.codegen_rows import Key, is_file, is_function
from pcbench.analysis.quantities import listed

COMPILED_AGAIN = "the same command three times on each side, on an idle machine"
MEASURED_ALIKE = "both sides measured by the same pcbench"


def timed(key: Key) -> str:
    """What costs time on a GPU: the suite has cases of the kernels of ``kernels/``, and of no file and no function."""
    cards = names_by_target()
    where = f"{key.target} ({cards[key.target]})" if key.target in cards else key.target
    if is_function(key.kernel) or is_file(key.kernel):
        return f"timing {key.kernel} on {where}, both sides in turn: only a GPU tells"
    return f'`pcbench ab BASELINE CANDIDATE "bench_kernels.*({key.kernel} *"` on {where}: only a GPU tells'


def looked_at(keys: Sequence[Key]) -> str:
    """What the compiler says of one kernel, for all targets of the keys; a function's types are not in them."""
    kernel, targets = keys[0].kernel, targets_of(keys)
    if is_function(kernel):
        where = f" for {listed(targets)}" if targets else ""
        return f"compiling {kernel}{where} with its --signature on either side shows what the compiler says"
    where = "".join(f" --target {target}" for target in targets)
    return f"`pcbench codegen {kernel}{where} --configs all` on either side shows what the compiler says"
