"""The chips that kernels are compiled for, and how many blocks of a kernel one of their multiprocessors holds."""

from __future__ import annotations

from dataclasses import dataclass

_REGISTERS_AT_ONCE = 256
_SUBPARTITIONS = 4
_SHARED_AT_ONCE = 128


@dataclass(frozen=True)
class Multiprocessor:
    """What one multiprocessor of an NVIDIA GPU has. Shared memory is in bytes.

    Attributes:
        shared_reserved: What each block takes beside what it asks for; so one block may ask for that much less.
    """

    registers: int
    warps: int
    blocks: int
    shared: int
    shared_reserved: int


@dataclass(frozen=True)
class Chip:
    """A GPU that Triton compiles for.

    Attributes:
        backend: Triton's word for its maker.
        arch: Triton's word for it.
        warp: Threads in a warp.
        multiprocessor: None where the compiler itself says how full it gets.
        waves: Waves that a SIMD holds at most; None where occupancy is counted in blocks.
    """

    backend: str
    arch: int | str
    warp: int
    multiprocessor: Multiprocessor | None = None
    waves: int | None = None


@dataclass(frozen=True)
class Occupancy:
    """How full a multiprocessor gets.

    Attributes:
        blocks: Blocks that it holds at once; 0 where it cannot hold one.
        share: Their warps, of those that it could hold.
        limit: What keeps it from holding more.
    """

    blocks: int
    share: float
    limit: str


_KIB = 1024

CHIPS = {
    "sm_80": Chip("cuda", 80, 32, Multiprocessor(65536, 64, 32, 164 * _KIB, _KIB)),
    "sm_90": Chip("cuda", 90, 32, Multiprocessor(65536, 64, 32, 228 * _KIB, _KIB)),
    "sm_100": Chip("cuda", 100, 32, Multiprocessor(65536, 64, 32, 228 * _KIB, _KIB)),
    "gfx942": Chip("hip", "gfx942", 64, waves=8),
}
"""Limits as in the CUDA C++ Programming Guide's table of technical specifications by compute capability; those of
gfx942 as in LLVM's AMDGPU backend."""


def occupancy(has: Multiprocessor, *, registers: int, warps: int, shared_bytes: int) -> Occupancy:
    """Blocks of so many warps, registers for each thread and shared memory for each block that fit at once.

    Registers are given to a warp 256 at a time, and warps are dealt to four partitions; shared memory is given to a
    block 128 bytes at a time. Tensor memory is no limit here: a block that finds none waits, but it is there.
    """
    of_warp = _up(registers * 32, _REGISTERS_AT_ONCE)
    by_registers = has.registers // _SUBPARTITIONS // of_warp * _SUBPARTITIONS if of_warp else has.warps
    limits = {
        "registers": by_registers // warps,
        "warps": has.warps // warps,
        "blocks": has.blocks,
        "shared memory": has.shared // _up(shared_bytes + has.shared_reserved, _SHARED_AT_ONCE),
    }
    blocks = min(limits.values())
    if limits["warps"] == blocks > 0:  # it can hold no more of such blocks, whatever they ask for
        return Occupancy(blocks, blocks * warps / has.warps, "warps")
    reached = "+".join(name for name, most in limits.items() if most == blocks)
    return Occupancy(blocks, blocks * warps / has.warps, reached if blocks else f"does not fit: {reached}")


def _up(count: int, step: int) -> int:
    return -(-count // step) * step
