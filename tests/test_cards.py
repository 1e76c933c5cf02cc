"""The cards that targets stand for, and their documented peaks."""

from __future__ import annotations

import pytest

from pcbench.analysis.cards import CARDS, Card, card_of_device, card_of_target, names_by_target
from pcbench.codegen_asking import CHIPS


def test_every_target_has_a_card_and_every_card_a_target() -> None:
    assert {card.target for card in CARDS} == set(CHIPS)
    assert tuple(names_by_target()) == CHIPS
    assert names_by_target()["sm_90"] == "H100 or H200"


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.name)
def test_a_peak_is_dense_and_in_flops_and_says_its_source(card: Card) -> None:
    half = card.flops_per_s["float16"]

    assert card.flops_per_s["bfloat16"] == half
    assert card.flops_per_s["float32"] < half / 5
    assert [rate / half for dtype, rate in card.flops_per_s.items() if "float8" in dtype] in (
        [],
        [pytest.approx(2, rel=1e-3)],
    )
    assert 100 < half / card.memory_bytes_per_s < 350  # TFLOP/s of sparse matrices, or GB/s for TB/s, are beyond it
    assert card.name in card.source


def test_the_peaks_of_an_h200_are_those_of_its_data_sheet() -> None:
    card = card_of_device("NVIDIA H200")

    assert card is not None
    assert (card.name, card.memory_bytes_per_s) == ("H200", 4.8e12)
    peaks = {"float16": 989.4e12, "bfloat16": 989.4e12, "float32": 66.9e12, "float8_e4m3fn": 1978.9e12}
    assert card.flops_per_s == pytest.approx(peaks)


def test_a_card_has_no_peak_in_a_dtype_that_it_does_not_compute_in() -> None:
    lacking = {card.name for card in CARDS if "float8_e4m3fn" not in card.flops_per_s}

    assert lacking == {"A100", "MI300X"}


def test_the_peaks_of_a_b200_are_those_of_one_gpu_of_an_hgx_b200() -> None:
    card = card_of_device("NVIDIA B200")

    assert card is not None
    assert card.memory_bytes_per_s == 7.7e12
    peaks = {"float16": 2250e12, "bfloat16": 2250e12, "float32": 75e12, "float8_e4m3fn": 4500e12}
    assert card.flops_per_s == pytest.approx(peaks)


@pytest.mark.parametrize("device", ["AMD Instinct MI300X", "AMD Instinct MI300X OAM"])
def test_an_mi300x_is_known_by_either_of_its_names(device: str) -> None:
    card = card_of_device(device)

    assert card is not None
    assert card.name == "MI300X"


@pytest.mark.parametrize("device", ["NVIDIA H100 PCIe", "NVIDIA H200 MIG 1g.18gb", "AMD Instinct MI300X HF OAM", ""])
def test_a_variant_or_a_part_of_a_card_has_not_its_peaks(device: str) -> None:
    assert card_of_device(device) is None


def test_of_two_cards_of_a_target_the_last_stands_for_it() -> None:
    named = {card.target: card_of_target(card.target) for card in CARDS}

    assert named["sm_90"] is not None
    assert named["sm_90"].name == "H200"
    assert card_of_target("sm_75") is None
