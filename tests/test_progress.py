import pytest

from pcbench.commands._progress import steps


def test_a_step_after_the_last_is_not_counted_above_the_total(capsys: pytest.CaptureFixture[str]) -> None:
    with steps(2) as step:
        for what in "abc":
            step(what)

    lines = capsys.readouterr().err.splitlines()
    assert [(line.split()[0], line.split()[-1]) for line in lines] == [("[1/2]", "a"), ("[2/2]", "b"), ("[2/2]", "c")]
