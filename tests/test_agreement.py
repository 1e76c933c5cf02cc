import pytest
import torch
from torch import nn

from pcbench.errors import UsageError
from pcbench.runner import agreement


def test_reordered_sums_agree_and_a_wrong_answer_does_not() -> None:
    x = torch.randn(1000, generator=torch.Generator().manual_seed(0))

    assert agreement.difference(x, x + 1e-6 * x.abs().max()) is None
    assert agreement.difference(x, x + 1e-3 * x.abs().max()) == "output 0 differs from eager's by up to 0.0041"


@pytest.mark.parametrize(
    ("expected", "actual", "words"),
    [
        (torch.ones(2), torch.ones(3), "is torch.float32[3], eager's is torch.float32[2]"),
        (torch.ones(2), torch.ones(2, dtype=torch.float64), "is torch.float64[2]"),
        (torch.ones(2), (torch.ones(2),), "structure is tuple"),
        ([torch.ones(2)], (torch.ones(2),), "structure is tuple"),
        ({"a": torch.ones(2)}, {"b": torch.ones(2)}, "structure is dict"),
        (torch.tensor([1, 2]), torch.tensor([1, 3]), "differs from eager's by up to 1"),
        (torch.tensor([True]), torch.tensor([False]), "differs"),
        (torch.tensor([1.0, float("nan")]), torch.tensor([1.0, 2.0]), "differs"),
        (torch.tensor([float("inf")]), torch.tensor([float("-inf")]), "differs"),
        (torch.tensor([float("nan")]), torch.tensor([float("inf")]), "differs"),
        ((torch.ones(1), 3, "s"), (torch.ones(1), 4, "s"), "output 1 is 4, eager's is 3"),
        ((torch.ones(1), "s"), (torch.ones(1), "t"), "output 1 is 't', eager's is 's'"),
        ((torch.ones(1), 1.0), (torch.ones(1), 2.0), "output 1 is 2.0"),
        ((torch.ones(1), 1), (torch.ones(1), True), "output 1 is True"),
        (torch.tensor([1e9, 1.0, 2.0]), torch.tensor([1e9, -5000.0, 2.0]), "up to 5e+03"),
        (torch.tensor([1 + 2j]), torch.tensor([1 + 3j]), "up to 1"),
    ],
)
def test_what_differs_is_said(expected: object, actual: object, words: str) -> None:
    assert words in str(agreement.difference(expected, actual))


@pytest.mark.parametrize(
    "value",
    [
        torch.tensor([1.0, float("nan"), float("inf"), float("-inf")]),
        torch.empty(0, 3),
        torch.tensor(3),
        (torch.ones(1), {"a": [torch.zeros(1)]}),
        torch.zeros(4),
        (torch.ones(2), 3, "s", 0.5, None, float("nan")),
        torch.tensor([1 + 2j, complex("nan")]),
    ],
)
def test_an_answer_agrees_with_itself(value: object) -> None:
    assert agreement.difference(value, value) is None


def test_an_output_without_a_tensor_is_refused() -> None:
    with pytest.raises(UsageError, match="a dict, holds no tensor"):
        agreement.require_tensors({"loss": 3.0})


def test_the_fingerprint_changes_with_weights_buffers_and_inputs_and_with_nothing_else() -> None:
    def made(seed: int) -> nn.Module:
        torch.manual_seed(seed)
        return nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))

    x = (torch.ones(1, 2),)
    first = agreement.fingerprint(made(0), x, {})
    other_buffer = made(0)
    other_buffer[1].running_mean.add_(1)

    assert agreement.fingerprint(made(0), x, {}) == first
    assert agreement.fingerprint(made(1), x, {}) != first
    assert agreement.fingerprint(other_buffer, x, {}) != first
    assert agreement.fingerprint(made(0), (torch.zeros(1, 2),), {}) != first
    assert agreement.fingerprint(made(0).to(torch.bfloat16), x, {}) != first


def test_complex_answers_and_floats_may_differ_by_rounding() -> None:
    z = torch.tensor([1 + 2j])

    assert agreement.difference((z, 1.0), (z * (1 + 1e-6), 1.0 + 1e-6)) is None
