"""What ``pcbench`` says of a command line that no command takes."""

from __future__ import annotations

import pytest

from pcbench.commands import main


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["codegn"], "did you mean 'codegen'?"),
        (["codegen", "--targets", "sm_90"], "pcbench codegen has no option --targets"),
        (["codegen", "diff", "--triton", "3.8.0", "--triton", "3.9.0", "softmax"], "names come first"),
    ],
)
def test_a_word_that_no_argument_takes_is_named_with_what_to_do(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert said in capsys.readouterr().err
