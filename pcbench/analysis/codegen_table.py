"""The table of ``pcbench codegen``: a block of lines for each configuration, in it two for each target."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from pcbench.analysis.codegen_rows import CodegenRow, Key
from pcbench.analysis.columns import aligned
from pcbench.analysis.quantities import counted, digits, seconds
from pcbench.status import Status

_UNKNOWN = "-"
_COLUMNS = (
    ("registers", "registers"),
    ("spills", "spill_stores"),
    ("occupancy", "occupancy"),
    ("blocks/SM", "blocks_per_sm"),
    ("warps", "warps"),
    ("shared", "shared_bytes"),
    ("tensor", "tensor_memory"),
    ("stack", "stack_bytes"),
    ("scalar", "scalar_registers"),
    ("accumulation", "accumulation_registers"),
    ("instructions", "sass"),
    ("matrix", "mma"),
    ("global", "global_access"),
    ("128-bit", "global_128"),
    ("narrow", "global_narrow"),
    ("async", "async_copies"),
    ("shared acc.", "shared_access"),
    ("barriers", "barriers"),
)
"""Head and metric; what is known beside a metric stands in the same cell."""

_STAGES = {"ptx": "PTX", "llir": "LLVM", "ttgir": "TTGIR", "ttir": "TTIR", "convert_layout": "layout conversions"}
_BESIDE = ("spill_loads", "spill_store_bytes", "spill_load_bytes")
_SHOWN = {*_STAGES, *_BESIDE, *(metric for _, metric in _COLUMNS)}


def table_lines(rows: Sequence[CodegenRow]) -> list[str]:
    """Every metric of every row; a column that no row knows is left out, and a row that failed says why.

    Rows follow one another as they came, those of one configuration side by side.
    """
    good = [row for row in rows if row.status is Status.OK]
    shown = [(head, metric) for head, metric in _COLUMNS if any(metric in row.metrics for row in good)]
    cells = [[row.key.target, *(_cell(row, metric) for _, metric in shown)] for row in good]
    table = aligned([["target", *(head for head, _ in shown)], *cells])
    lines = dict(zip(map(id, good), table[1:], strict=True))
    out = [f"  {table[0]}"] if good else []
    order: dict[Key, list[CodegenRow]] = {}
    for row in rows:
        order.setdefault(_without_target(row.key), []).append(row)
    for key, own in order.items():
        out.append(str(key))
        for row in own:
            if row.status is Status.OK:
                out += [f"  {lines[id(row)]}", *(f"    {line}" for line in _below(row))]
            else:
                where = f"{row.key.target}  " if row.key.target else ""
                out.append(f"  {where}{row.status}: {row.reason or 'no reason was given'}")
    return [*out, *_ending(rows)]


def _without_target(key: Key) -> Key:
    return Key(key.kernel, key.function, key.sizes, key.dtype, key.config)


def _cell(row: CodegenRow, metric: str) -> str:
    if metric == "spill_stores":
        stored, loaded = row.metrics.get("spill_store_bytes"), row.metrics.get("spill_load_bytes")
        told = f" ({_number(row, 'spill_store_bytes')}/{_number(row, 'spill_load_bytes')} B)"
        return f"{_number(row, metric)}/{_number(row, 'spill_loads')}" + (told if stored or loaded else "")
    if metric == "occupancy" and metric in row.metrics and "occupancy_limit" in row.words:
        return f"{_number(row, metric)} (by {row.words['occupancy_limit']})"
    if metric == "mma" and metric in row.metrics and "mma_class" in row.words:
        return f"{_number(row, metric)} {row.words['mma_class']}"
    return _number(row, metric)


def _number(row: CodegenRow, metric: str) -> str:
    value = row.metrics.get(metric)
    return _UNKNOWN if value is None else f"{value:.3g}" if metric == "occupancy" else digits(value)


def _below(row: CodegenRow) -> list[str]:
    stages = [f"{words} {digits(row.metrics[metric])}" for metric, words in _STAGES.items() if metric in row.metrics]
    stages += [f"{metric} {digits(value)}" for metric, value in row.metrics.items() if metric not in _SHOWN]
    took = [] if row.compile_cpu_s is None else [f"compiled in {seconds(row.compile_cpu_s)} of CPU"]
    took += [f"{stage} {seconds(value)}" for stage, value in row.stage_cpu_s.items()]
    took += [] if row.hit_s is None else [f"from the cache in {seconds(row.hit_s)}"]
    lines = [", ".join(stages), ", ".join(took), f"sha256 {row.sha256}"]
    return [line for line in (*lines, *row.warnings) if line]


def _ending(rows: Sequence[CodegenRow]) -> list[str]:
    made = [(f"triton {row.triton}", f"{row.key.target} by {row.assembler}") for row in rows if row.status is Status.OK]
    out = [
        f"{version}: {', '.join(dict.fromkeys(by for _, by in own))}"
        for version, own in groupby(sorted(made, key=lambda one: one[0]), key=lambda one: one[0])
    ]
    failed = sum(row.status is not Status.OK for row in rows)
    codes = len({row.sha256 for row in rows if row.status is Status.OK})
    told = f"{counted(len(rows), 'row')}, {counted(codes, 'distinct binary', 'distinct binaries')}"
    return [*out, told + (f"; {failed} without numbers" if failed else "")]
