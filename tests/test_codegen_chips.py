"""How full a multiprocessor gets, worked out by hand."""

from __future__ import annotations

import pytest

from pcbench.codegen.chips import CHIPS, Occupancy, occupancy


@pytest.mark.parametrize(
    ("chip", "registers", "warps", "shared_bytes", "blocks", "share", "limit"),
    [
        # 26 registers of 32 threads are 832, given as 1024: 64 warps find them, and 16 blocks of 4 are 64 warps.
        ("sm_90", 26, 4, 0, 16, 1.0, "warps"),
        # 84 x 32 = 2688, given as 2816: each partition's 16,384 hold 5 warps, so 20 in all, less than two blocks of 16.
        ("sm_100", 84, 16, 32, 1, 0.25, "registers"),
        ("sm_100", 64, 16, 32, 2, 0.5, "registers"),
        ("sm_90", 84, 1, 0, 20, 0.3125, "registers"),
        # 122 x 32 = 3904, given as 4096: 4 warps a partition, 16 in all, two blocks of 8; of 228 KiB two take 97 each.
        ("sm_90", 122, 8, 96 * 1024, 2, 0.25, "registers+shared memory"),
        # Of 228 KiB, one block of 128 + 1 KiB; of sm_80's 164 KiB, likewise.
        ("sm_90", 64, 8, 128 * 1024, 1, 0.125, "shared memory"),
        ("sm_80", 64, 8, 128 * 1024, 1, 0.125, "shared memory"),
        # Blocks of one warp: 32 of them, whatever is free.
        ("sm_80", 32, 1, 0, 32, 0.5, "blocks"),
        # 227 KiB is the most a block may ask for: one of it fits, and not a byte more.
        ("sm_90", 32, 4, 227 * 1024, 1, 0.0625, "shared memory"),
        ("sm_90", 32, 4, 227 * 1024 + 1, 0, 0.0, "does not fit: shared memory"),
        ("sm_80", 32, 4, 164 * 1024, 0, 0.0, "does not fit: shared memory"),
        # 255 x 32 = 8160, given as 8192: 2 warps a partition, 8 in all, half a block of 16.
        ("sm_90", 255, 16, 0, 0, 0.0, "does not fit: registers"),
    ],
)
def test_occupancy_is_what_the_scarcest_resource_allows(
    chip: str, registers: int, warps: int, shared_bytes: int, blocks: int, share: float, limit: str
) -> None:
    has = CHIPS[chip].multiprocessor
    assert has is not None

    assert occupancy(has, registers=registers, warps=warps, shared_bytes=shared_bytes) == Occupancy(
        blocks, share, limit
    )
