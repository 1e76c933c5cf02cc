from pathlib import Path

import pytest

from pcbench import discovery
from pcbench.errors import ExtensionError, UsageError


def test_names_are_file_names_sorted_without_private_ones(tmp_path: Path) -> None:
    for name in ("b.py", "a.py", "_shared.py", "__init__.py", "note.txt"):
        (tmp_path / name).touch()

    assert discovery.names(tmp_path) == ("a", "b")


def test_the_models_and_strategies_of_the_main_job_are_found() -> None:
    assert {"mlp", "encoder", "convnet", "dataclass_io", "tied_lm", "large"} <= set(discovery.model_names())
    assert {"export", "aot_compile", "precompile_eager", "precompile_inductor", "aoti"} <= set(
        discovery.strategy_names()
    )


def test_an_unknown_name_is_answered_with_the_nearest_and_all_valid_ones() -> None:
    with pytest.raises(UsageError) as raised:
        discovery.check_name("model", "encodr", ("encoder", "mlp"))

    assert raised.value.problem == "there is no model 'encodr'"
    assert raised.value.hint == "did you mean 'encoder'? valid names: encoder, mlp"


def test_a_file_without_its_constant_is_told_the_line_to_add(tmp_path: Path) -> None:
    path = tmp_path / "lacking.py"
    path.write_text("x = 1\n")

    with pytest.raises(
        ExtensionError, match=r"lacking.py: NUMBER is missing .*end the file with the line: NUMBER = int"
    ):
        discovery.load_file(path, "NUMBER", int)


def test_a_file_with_a_constant_of_another_type_says_which(tmp_path: Path) -> None:
    path = tmp_path / "other.py"
    path.write_text("NUMBER = 'one'\n")

    with pytest.raises(ExtensionError, match="NUMBER is a str"):
        discovery.load_file(path, "NUMBER", int)


def test_a_file_that_raises_is_reported_with_its_own_error_first_and_its_line(tmp_path: Path) -> None:
    path = tmp_path / "raising.py"
    path.write_text("x = 1\nraise RuntimeError('no weights here')\n")

    with pytest.raises(ExtensionError) as raised:
        discovery.load_file(path, "NUMBER", int)

    assert raised.value.problem == "RuntimeError: no weights here"
    assert f"{path}:2" in str(raised.value.hint)


def test_a_syntax_error_names_the_file_and_line_it_is_in(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("x = 1\ny = (\n")

    with pytest.raises(ExtensionError, match="SyntaxError") as raised:
        discovery.load_file(path, "NUMBER", int)

    assert "broken.py" in str(raised.value)


def test_a_loaded_file_can_import_the_modules_beside_it(tmp_path: Path) -> None:
    (tmp_path / "pcbench_test_sibling.py").write_text("VALUE = 3\n")
    path = tmp_path / "importing.py"
    path.write_text("from pcbench_test_sibling import VALUE\nNUMBER = VALUE\n")

    assert discovery.load_file(path, "NUMBER", int) == 3


def test_a_function_target_is_found_in_the_given_folder(tmp_path: Path) -> None:
    (tmp_path / "pcbench_test_functions.py").write_text("def make():\n    return 5\n")

    assert discovery.load_function("pcbench_test_functions:make", tmp_path)() == 5


@pytest.mark.parametrize(
    ("target", "hint"),
    [
        ("mypkg/k.py:add", "write mypkg.k:add"),
        ("./mypkg/k:add", "write mypkg.k:add"),
        ("mypkg/__init__.py:add", "write mypkg:add"),
        ("mypkg.k:", "write mypkg.k:FUNCTION"),
        ("../k.py:add", "write package.module:function in the folder that its package is in"),
    ],
)
def test_a_function_that_is_named_by_a_path_or_without_its_name_is_told_how_it_is_to_be_named(
    target: str, hint: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=r"is not of the form package\.module:function") as raised:
        discovery.load_function(target, tmp_path)

    assert raised.value.hint == hint


@pytest.mark.parametrize("kind", ["kernel", "model"])
def test_a_module_where_a_kernel_or_a_model_is_wanted_is_told_how_its_function_is_named(kind: str) -> None:
    with pytest.raises(UsageError, match=f"there is no {kind} 'mypkg.k'") as raised:
        discovery.check_name(kind, "mypkg.k", ("encoder",))

    assert raised.value.hint == "write mypkg.k:FUNCTION for a function of that module; valid names: encoder"


@pytest.mark.parametrize(("kind", "name"), [("strategy", "a.b"), ("kernel", "1.5"), ("kernel", "softmax.")])
def test_what_can_be_no_module_has_no_such_hint(kind: str, name: str) -> None:
    with pytest.raises(UsageError) as raised:
        discovery.check_name(kind, name, ("encoder",))

    assert raised.value.hint == "valid names: encoder"


def test_a_function_that_is_not_there_is_answered_with_the_nearest_and_a_value_is_no_function(tmp_path: Path) -> None:
    (tmp_path / "pcbench_test_members.py").write_text("NUMBER = 3\ndef launch():\n    pass\n")

    with pytest.raises(UsageError, match="has no function 'lanch'") as raised:
        discovery.load_function("pcbench_test_members:lanch", tmp_path)
    assert raised.value.hint == "did you mean 'launch'?"
    with pytest.raises(UsageError, match="pcbench_test_members:NUMBER is of type int, no function"):
        discovery.load_function("pcbench_test_members:NUMBER", tmp_path)
    assert discovery.load_member("pcbench_test_members:NUMBER", tmp_path) == 3


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("pcbench_test_nowhere:make", "there is no module pcbench_test_nowhere"),
        ("json:nothing", "has no function 'nothing'"),
        ("json:", "not of the form"),
    ],
)
def test_a_function_target_that_is_not_there_says_so(target: str, words: str, tmp_path: Path) -> None:
    with pytest.raises((UsageError, ExtensionError), match=words):
        discovery.load_function(target, tmp_path)
