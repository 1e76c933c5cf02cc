"""GPUs that kernels are compiled for, with the peaks that their makers document: dense, never with sparsity."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Card:
    """A GPU and what its maker's data sheet says of it.

    Attributes:
        target: What Triton calls its chip: ``sm_90``.
        device: What its driver calls it. Variants with other peaks, such as those on PCIe, have other names.
        memory_bytes_per_s: Of its memory, read and written.
        flops_per_s: By torch's name of a dtype: its tensor cores' on dense matrices; of ``float32``, without them. A
            dtype that it does not compute in is not there.
        source: Where the numbers are from.
    """

    name: str
    target: str
    device: str
    memory_bytes_per_s: float
    flops_per_s: Mapping[str, float]
    source: str


def _peaks(half: float, float32: float, **more: float) -> dict[str, float]:
    found = {"float16": half, "bfloat16": half, "float32": float32, **more}
    return {dtype: tera * 1e12 for dtype, tera in found.items()}


CARDS = (
    Card(
        "A100",
        "sm_80",
        "NVIDIA A100-SXM4-80GB",
        2.039e12,
        _peaks(312, 19.5),
        "NVIDIA A100 Tensor Core GPU data sheet, A100 80GB SXM",
    ),
    Card(
        "H100",
        "sm_90",
        "NVIDIA H100 80GB HBM3",
        3.35e12,
        _peaks(989.4, 66.9, float8_e4m3fn=1978.9),
        "NVIDIA H100 Tensor Core GPU data sheet and architecture white paper, H100 SXM5",
    ),
    Card(
        "H200",
        "sm_90",
        "NVIDIA H200",
        4.8e12,
        _peaks(989.4, 66.9, float8_e4m3fn=1978.9),
        "NVIDIA H200 Tensor Core GPU data sheet, H200 SXM; it computes as the H100 SXM5",
    ),
    Card(
        "B200",
        "sm_100",
        "NVIDIA B200",
        7.7e12,
        _peaks(2250, 75, float8_e4m3fn=4500),
        "NVIDIA Blackwell data sheet (GB200 NVL72 and HGX B200), HGX B200, for each GPU",
    ),
    Card(
        "MI300X",
        "gfx942",
        "AMD Instinct MI300X",
        5.3e12,
        _peaks(1307.4, 163.4, float8_e4m3fnuz=2614.9),
        "AMD Instinct MI300X accelerator data sheet; its float8 is e4m3fnuz, not e4m3fn",
    ),
)
"""By target; of several for one target, the last stands for it where none was measured."""


def card_of_target(target: str) -> Card | None:
    """The card that stands for a target."""
    return next((card for card in reversed(CARDS) if card.target == target), None)


def card_of_device(device: str) -> Card | None:
    """The card that a driver calls so, with or without AMD's ``OAM``, the module that all of them are.

    Returns:
        None of a variant or a part of a card, whose peaks are others.
    """
    return next((card for card in CARDS if card.device == device.removesuffix(" OAM")), None)


def in_order(targets: Iterable[str]) -> list[str]:
    """Targets, once each, in the order of their cards; others last."""
    known = list(names_by_target())
    return sorted(dict.fromkeys(targets), key=lambda target: known.index(target) if target in known else len(known))


def names_by_target() -> dict[str, str]:
    """``H100 or H200`` for ``sm_90``, say, for every target."""
    targets = dict.fromkeys(card.target for card in CARDS)
    return {target: " or ".join(card.name for card in CARDS if card.target == target) for target in targets}
