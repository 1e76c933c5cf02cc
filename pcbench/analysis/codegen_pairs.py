"""Which row of one side is compared with which of the other: the same compilation, before and after."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from pcbench.analysis.codegen_rows import CodegenRow, Key
from pcbench.status import Status


@dataclass(frozen=True)
class Pair:
    """Two rows that are compared.

    Attributes:
        renamed: What is called otherwise in the candidate, in words; empty where both have one key.
    """

    baseline: CodegenRow
    candidate: CodegenRow
    renamed: str = ""

    @property
    def key(self) -> Key:
        """The candidate's key."""
        return self.candidate.key

    @property
    def measured(self) -> bool:
        """Whether there are numbers on both sides."""
        return self.baseline.status is self.candidate.status is Status.OK

    @property
    def other_kernel(self) -> bool:
        """Whether the kernel itself is called otherwise in the candidate."""
        return self.baseline.key.kernel != self.candidate.key.kernel

    @property
    def same_code(self) -> bool:
        """Whether both are the same machine code, to the bit."""
        return bool(self.baseline.sha256) and self.baseline.sha256 == self.candidate.sha256


@dataclass(frozen=True)
class PairedRows:
    """Two sides' rows.

    Attributes:
        missing: The baseline's, which the candidate has not; ``new`` the other way round.
        broken_baseline: Kernels whose process died, or that could not be read, before they told of a compilation.
        broken_candidate: Likewise.
    """

    pairs: tuple[Pair, ...]
    missing: tuple[CodegenRow, ...]
    new: tuple[CodegenRow, ...]
    broken_baseline: tuple[CodegenRow, ...]
    broken_candidate: tuple[CodegenRow, ...]


def pair_up(baseline: Sequence[CodegenRow], candidate: Sequence[CodegenRow]) -> PairedRows:
    """Pair rows by key; what is then left of a kernel, by its place among what is left of it.

    A function or a constant may have another name, and a configuration another value: where both sides have as many
    such rows left for the same shape and target, they are compared in order, and it is said what is called otherwise.
    Where each side is of one kernel alone, they are compared whatever they are called, as two files are.
    """
    alone = len({row.key.kernel for row in baseline}) == len({row.key.kernel for row in candidate}) == 1
    pairs: list[Pair] = []
    before, after = [row for row in baseline if row.key.function], [row for row in candidate if row.key.function]
    for same in _SAME:
        groups = defaultdict(list)
        for row in after:
            groups[same(_nameless(row.key) if alone else row.key)].append(row)
        left = defaultdict(list)
        for row in before:
            left[same(_nameless(row.key) if alone else row.key)].append(row)
        exact = same is _SAME[0]
        for shared in left.keys() & groups.keys():
            if exact or len(left[shared]) == len(groups[shared]):
                count = min(len(left[shared]), len(groups[shared]))
                pairs += map(_pair, left[shared][:count], groups[shared][:count])
                left[shared], groups[shared] = left[shared][count:], groups[shared][count:]
        before, after = _flat(left.values()), _flat(groups.values())
    return PairedRows(
        pairs=tuple(sorted(pairs, key=lambda pair: pair.key)),
        missing=tuple(sorted(before, key=lambda row: row.key)),
        new=tuple(sorted(after, key=lambda row: row.key)),
        broken_baseline=tuple(row for row in baseline if not row.key.function),
        broken_candidate=tuple(row for row in candidate if not row.key.function),
    )


_SAME: tuple[Callable[[Key], Key], ...] = (
    lambda key: key,
    lambda key: replace(key, function=""),
    lambda key: replace(key, config=""),
    lambda key: replace(key, function="", config=""),
)
"""What must be the same of two rows to be compared, the strictest first."""


def _pair(baseline: CodegenRow, candidate: CodegenRow) -> Pair:
    old, new = baseline.key, candidate.key
    said = [f"its kernel was {old.kernel}"] if old.kernel != new.kernel else []
    said += [f"its function was {old.function}"] if old.function != new.function else []
    said += [f"its configuration was {old.config or 'none'}"] if old.config != new.config else []
    return Pair(baseline, candidate, ", ".join(said))


def _nameless(key: Key) -> Key:
    return replace(key, kernel="")


def _flat(groups: Iterable[list[CodegenRow]]) -> list[CodegenRow]:
    return [row for group in groups for row in group]
