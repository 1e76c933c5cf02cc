"""``pcbench compare`` and ``pcbench doctor`` as a user runs them."""

from __future__ import annotations

import importlib.metadata
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from users_model import HEAD, TAIL

from pcbench.conditions import CONDITIONS

MODEL = HEAD + TAIL


def pcbench(*words: str, cwd: Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pcbench", *words]
    return subprocess.run(command, cwd=cwd, env=os.environ | (env or {}), capture_output=True, text=True, check=False)


@pytest.fixture
def model(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MODEL)


@pytest.mark.slow
@pytest.mark.usefixtures("model")
def test_compare_measures_every_row_writes_json_and_figure_and_recommends_last(tmp_path: Path) -> None:
    ended = pcbench(
        *("compare", "mine.py", "--strategies", "export,precompile_eager", "--samples", "2", "--threads", "1"),
        *("--capture-warm", "--json", "out.json", "--figure", "out.png"),
        cwd=tmp_path,
    )

    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines()[-1].startswith("Recommended: ")
    assert "[1/17]" in ended.stderr
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")
    written = json.loads((tmp_path / "out.json").read_text())
    assert written["schema"] == 1
    assert written["threads"] == 1
    assert set(written) == {
        *("schema", "model", "torch", "triton", "python", "machine", "threads", "recommendation", "results"),
        *("captures", "shapes", "deployed", "workers"),
    }
    assert written["shapes"] == written["deployed"] == written["workers"] == []
    rows = {(row["strategy"], row["temperature"]): row for row in written["results"]}
    assert set(rows) == {(s, t) for s in ("eager", "export", "precompile_eager") for t in ("cold", "warm", "hot")}
    assert all(row["status"] == "OK" and len(row["samples"]) == 2 for row in rows.values())
    assert len(rows["export", "warm"]["call_s"]) == len(rows["export", "warm"]["eager_call_s"]) >= 10
    assert rows["export", "cold"]["weights"] == "baked"
    assert rows["precompile_eager", "cold"]["weights"] == "passed"
    order = [line.split()[-1] for line in ended.stderr.splitlines() if "warm load" in line]
    captures = {(row["strategy"], row["temperature"]): row for row in written["captures"]}
    assert set(captures) == {(s, t) for s in ("export", "precompile_eager") for t in ("cold", "warm")}
    assert all(row["status"] == "OK" and row["counts"]["graphs"] == 1 for row in captures.values())
    assert captures["export", "cold"]["capture_s"] == rows["export", "cold"]["capture_s"][0]
    assert "captures by phase" in ended.stdout
    assert sorted(order[:3]) == sorted(order[3:]) == ["eager", "export", "precompile_eager"]
    assert order[:3] != order[3:]


@pytest.mark.slow
def test_compare_loads_deployed_artifacts_and_several_workers_and_calls_extra_shapes(tmp_path: Path) -> None:
    tail = "\nMODEL = Model(build=Net, inputs=inputs, shapes={'five rows': lambda: ((torch.ones(5, 4),), {})})\n"
    (tmp_path / "mine.py").write_text(HEAD + tail)
    ended = pcbench(
        *("compare", "mine.py", "--strategies", "export", "--samples", "1", "--temperatures", "warm", "--threads", "1"),
        *("--deploy", "--workers", "2", "--shapes", "--json", "out.json"),
        cwd=tmp_path,
    )

    assert ended.returncode == 0, ended.stderr
    written = json.loads((tmp_path / "out.json").read_text())
    assert {(row["condition"], row["status"]) for row in written["deployed"]} == {(c, "OK") for c in CONDITIONS}
    assert {(row["strategy"], len(row["rounds"][0])) for row in written["workers"]} == {("eager", 2), ("export", 2)}
    assert {row["strategy"]: row["calls"][0]["status"] for row in written["shapes"]} == {
        "eager": "OK",
        "export": "GUARD_FAILED",
    }
    assert "[12/12]" in ended.stderr
    assert "slowest of 2" in ended.stdout


@pytest.mark.slow
@pytest.mark.usefixtures("model")
def test_shapes_of_a_model_that_names_none_are_bad_usage(tmp_path: Path) -> None:
    ended = pcbench("compare", "mine.py", "--strategies", "export", "--shapes", cwd=tmp_path)

    assert ended.returncode == 2
    assert "mine.py names no extra shapes" in ended.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("model")
def test_a_strategy_that_is_named_but_unavailable_exits_2_with_its_reason(tmp_path: Path) -> None:
    without_compiler = {"PATH": str(tmp_path / "nothing"), "CXX": "no-such-compiler"}
    ended = pcbench(
        *("compare", "mine.py", "--strategies", "aoti,export", "--samples", "1", "--temperatures", "warm"),
        cwd=tmp_path,
        env=without_compiler,
    )

    assert ended.returncode == 2
    assert "pcbench: aoti is unavailable: " in ended.stderr
    assert "no-such-compiler" in ended.stderr
    assert "UNAVAILABLE" in ended.stdout
    assert any(line.startswith("export") and "n=1" in line for line in ended.stdout.splitlines())


@pytest.mark.slow
def test_a_strategy_that_crashes_costs_its_own_row_only(tmp_path: Path) -> None:
    body = "if torch.compiler.is_exporting(): import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
    (tmp_path / "mine.py").write_text(MODEL.replace("        return", f"        {body}\n        return"))
    ended = pcbench(
        *("compare", "mine.py", "--strategies", "export,precompile_eager"),
        *("--samples", "1", "--temperatures", "warm"),
        cwd=tmp_path,
    )

    assert ended.returncode == 0, ended.stderr
    assert "CRASHED" in ended.stdout
    assert "at capture: killed by SIGSEGV" in ended.stdout
    assert any(line.startswith("precompile_eager") and "n=1" in line for line in ended.stdout.splitlines())


@pytest.mark.slow
@pytest.mark.usefixtures("model")
def test_ctrl_c_ends_the_children_and_keeps_what_was_measured(tmp_path: Path) -> None:
    words = ("compare", "mine.py", "--strategies", "export", "--samples", "50", "--temperatures", "warm")
    command = [sys.executable, "-m", "pcbench", *words, "--json", "out.json"]
    started = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert started.stderr is not None
    for line in started.stderr:
        if "warm load 2" in line:
            break
    time.sleep(0.5)
    started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=60)

    assert started.returncode == 2
    assert "interrupted; what was measured until then follows" in err
    assert "calls per warm start" in out.splitlines()[-1]
    rows = json.loads((tmp_path / "out.json").read_text())["results"]
    assert {row["strategy"] for row in rows} == {"eager", "export"}
    assert not _running(str(tmp_path))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("encodr",), ("there is no model 'encodr'", "did you mean 'encoder'?")),
        (("mlp", "--strategies", "exprt"), ("there is no strategy 'exprt'", "did you mean 'export'?")),
        (("mlp", "--temperatures", "tepid"), ("there is no temperature 'tepid'", "cold, bundled, warm, hot")),
        (("nowhere.py",), ("there is no file nowhere.py",)),
        (("mlp", "--json", "no/such/folder/out.json"), ("cannot be written",)),
        (("mlp", "--figure", "."), ("cannot be written",)),
        (("mlp", "--json", "same.svg", "--figure", "same.svg"), ("both name same.svg",)),
        (("mlp", "--figure", "out.xyz"), ("no ending that a figure can have", "png")),
        (("mlp", "--samples", "0"), ("not a whole number from 1",)),
        (("mlp", "--timeout", "-3"), ("not a number of seconds above 0",)),
        (("mlp", "--strategies", ","), ("give at least one name",)),
        ((), ("the following arguments are required: model",)),
    ],
)
def test_bad_words_are_answered_at_once_with_2_and_no_traceback(
    words: tuple[str, ...], said: tuple[str, ...], tmp_path: Path
) -> None:
    ended = pcbench("compare", *words, cwd=tmp_path)

    assert ended.returncode == 2
    assert all(part in ended.stderr for part in said), ended.stderr
    assert "Traceback" not in ended.stderr
    assert ended.stdout == ""


@pytest.mark.slow
def test_a_model_file_that_raises_is_answered_with_its_own_error_first(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("raise OSError('no licence file')\n")
    ended = pcbench("compare", "mine.py", "--strategies", "export", cwd=tmp_path)

    assert ended.returncode == 2
    lines = [line for line in ended.stderr.splitlines() if not line.startswith("[")]
    assert lines[0] == "pcbench: OSError: no licence file"
    assert "mine.py:1" in lines[1]


def test_an_unknown_command_is_answered_with_the_nearest(tmp_path: Path) -> None:
    ended = pcbench("comapre", "mlp", cwd=tmp_path)

    assert ended.returncode == 2
    assert "did you mean 'compare'?" in ended.stderr


def test_help_names_every_command_without_importing_torch(tmp_path: Path) -> None:
    ended = pcbench("--help", cwd=tmp_path)
    code = "import sys; from pcbench.commands import *; parser(command_names()); print('torch' in sys.modules)"
    imported = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ended.returncode == 0
    assert all(name in ended.stdout for name in ("compare", "doctor", "report", "bench"))
    assert imported.stdout.strip() == "False"


@pytest.mark.slow
def test_doctor_tries_each_strategy_and_says_why_one_cannot(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    ended = pcbench("doctor", "--json", cwd=tmp_path, env={"PATH": str(tools), "CXX": ""})
    found = json.loads(ended.stdout)

    assert ended.returncode == 0
    assert found["schema"] == 1
    assert found["torch"].startswith(importlib.metadata.version("torch"))
    tools_found = {tool["name"]: tool for tool in found["tools"]}
    assert tools_found["C++ compiler"]["status"] == "UNAVAILABLE"
    assert "g++" in tools_found["C++ compiler"]["reason"]
    assert tools_found["valgrind"]["status"] == "UNAVAILABLE"
    strategies = {entry["name"]: entry for entry in found["strategies"]}
    assert strategies["export"] == {"name": "export", "status": "OK", "reason": None}
    assert strategies["aoti"]["status"] == "UNAVAILABLE"
    assert strategies["aoti"]["reason"]


@pytest.mark.skipif(shutil.which("g++") is None, reason="tests the answer where there is a compiler")
def test_doctor_compiles_a_file_before_it_believes_in_a_compiler(tmp_path: Path) -> None:
    lying = tmp_path / "g++"
    lying.write_text("#!/bin/sh\necho 'fatal: no licence' >&2\nexit 1\n")
    lying.chmod(0o755)
    code = "from pcbench.commands.doctor import compiler; print(compiler().status, compiler().reason)"

    def said(env: dict[str, str]) -> str:
        run = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
        return run.stdout

    assert said({**os.environ, "CXX": "g++"}).startswith("OK")
    assert "does not compile: fatal: no licence" in said({**os.environ, "CXX": str(lying)})


def _running(words: str) -> bool:
    found = subprocess.run(["pgrep", "-f", words], capture_output=True, text=True, check=False).stdout.split()
    return bool([pid for pid in found if pid != str(os.getpid())])
