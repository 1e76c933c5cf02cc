import pytest

from pcbench.analysis.quantities import digits, quantity, seconds, size, with_spread
from pcbench.analysis.spread import Spread


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0 s"),
        (12.345, "12.3 s"),
        (0.9999, "1.00 s"),
        (0.25, "250 ms"),
        (0.0123456, "12.3 ms"),
        (3.21e-6, "3.21 us"),
        (4e-10, "0.400 ns"),
    ],
)
def test_seconds_get_the_prefix_that_leaves_three_digits(value: float, text: str) -> None:
    assert seconds(value) == text


def test_sizes_are_decimal() -> None:
    assert [size(1_234_567), size(999), size(5e9)] == ["1.23 MB", "999 B", "5 GB"]


def test_an_unknown_unit_is_kept_as_it_is() -> None:
    assert quantity(1234.0, "guards") == "1,234 guards"


def test_a_number_just_below_a_power_of_ten_does_not_gain_a_digit() -> None:
    assert [digits(9.999), digits(99.99)] == ["10.0", "100"]


def test_a_spread_is_written_in_the_unit_of_its_median_and_always_states_n() -> None:
    assert with_spread(Spread(1.2, 0.9, 1.5, 5), "seconds") == "1.20 s (0.900-1.50, n=5)"
    assert with_spread(Spread(1.2, 1.2, 1.2, 1), "seconds") == "1.20 s (n=1)"
