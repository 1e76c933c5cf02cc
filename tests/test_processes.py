import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pcbench import processes

ANSWER = "import os, sys; fd = int(sys.argv[-1]); say = lambda text: os.write(fd, text.encode())\n"


def run(code: str, tmp_path: Path, timeout_s: float = 30.0) -> tuple[list[processes.Message], processes.Ending]:
    messages: list[processes.Message] = []
    ending = processes.run(
        [sys.executable, "-c", ANSWER + code],
        env=os.environ,
        cwd=tmp_path,
        timeout_s=timeout_s,
        on_message=messages.append,
    )
    return messages, ending


def test_messages_arrive_whole_and_in_order_whatever_is_printed(tmp_path: Path) -> None:
    code = r"""
print('{"not": "an answer"}', flush=True)
say('{"a"'); say(': 1}\n{"b": 2}\n')
"""
    messages, ending = run(code, tmp_path)

    assert messages == [{"a": 1}, {"b": 2}]
    assert ending.clean


def test_a_crash_is_told_with_its_signal_and_the_last_words(tmp_path: Path) -> None:
    _, ending = run("print('nearly there', flush=True); os.kill(os.getpid(), 11)", tmp_path)

    assert not ending.clean
    assert ending.sentence() == "killed by SIGSEGV; last output: nearly there"


def test_an_exit_code_is_told(tmp_path: Path) -> None:
    _, ending = run("sys.exit(3)", tmp_path)

    assert ending.sentence() == "exited with 3; last output: it printed nothing"


def test_a_child_that_is_ended_may_first_end_what_it_started(tmp_path: Path) -> None:
    code = """
import signal, subprocess
started = subprocess.Popen(["sleep", "60"], start_new_session=True)
def end(*_): started.kill(); started.wait(); say('{"ended": true}\\n'); sys.exit(0)
signal.signal(signal.SIGTERM, end)
say('{"pid": %d}\\n' % started.pid); signal.pause()
"""
    words = [sys.executable, "-c", ANSWER + code]
    told: list[processes.Message] = []
    ending = processes.run(words, env=os.environ, cwd=tmp_path, timeout_s=1.0, on_message=told.append, grace_s=30.0)

    assert ending.timed_out
    assert not Path(f"/proc/{told[0]['pid']}").exists()


def test_a_hang_is_ended_at_the_limit(tmp_path: Path) -> None:
    start = time.monotonic()
    messages, ending = run("say('{\"a\": 1}\\n')\nimport time; time.sleep(60)", tmp_path, timeout_s=1.0)

    assert ending.timed_out
    assert messages == [{"a": 1}]
    assert time.monotonic() - start < 30


def test_a_hang_after_the_answer_is_ended_too(tmp_path: Path) -> None:
    _, ending = run("os.close(fd)\nimport time; time.sleep(60)", tmp_path, timeout_s=1.0)

    assert ending.timed_out


def test_what_a_child_started_is_killed_with_it(tmp_path: Path) -> None:
    code = "import subprocess; p = subprocess.Popen(['sleep', '60']); say('{\"pid\": %d}\\n' % p.pid)"
    messages, _ = run(code, tmp_path)

    deadline = time.monotonic() + 10
    while _running(messages[0]["pid"]) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _running(messages[0]["pid"])


def test_a_grandchild_that_holds_the_pipe_does_not_hold_up_the_parent(tmp_path: Path) -> None:
    code = "import subprocess; subprocess.Popen(['sleep', '60'], close_fds=False); say('{\"a\": 1}\\n')"
    start = time.monotonic()
    messages, ending = run(code, tmp_path)

    assert messages == [{"a": 1}]
    assert ending.clean
    assert time.monotonic() - start < 20


def test_a_scratch_folder_of_a_killed_process_is_removed_by_the_next(tmp_path: Path) -> None:
    code = (
        f"from pcbench import processes; import os, pathlib\nwith processes.scratch(pathlib.Path({str(tmp_path)!r})):"
    )
    subprocess.run([sys.executable, "-c", f"{code} os._exit(0)"], check=True)
    (left,) = tmp_path.iterdir()
    strangers = tmp_path / "pcbench-scratch-of-somebody"
    strangers.mkdir()

    with processes.scratch(tmp_path) as folder, processes.scratch(tmp_path) as another:
        assert folder.is_dir()
        assert another.is_dir()
        assert not left.exists()
    assert list(tmp_path.iterdir()) == [strangers]


def test_scratch_is_removed_when_its_body_raises(tmp_path: Path) -> None:
    with pytest.raises(KeyError), processes.scratch(tmp_path):
        raise KeyError

    assert not list(tmp_path.iterdir())


def _running(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().split()[2] != "Z"


def test_a_forked_child_that_ends_leaves_its_parents_folder(tmp_path: Path) -> None:
    program = (
        "import os, sys\nfrom pathlib import Path\nfrom pcbench import processes\n"
        "with processes.scratch(Path(sys.argv[1])) as folder:\n"
        "    child = os.fork()\n"
        "    if child == 0:\n        sys.exit(0)\n"
        "    os.waitpid(child, 0)\n    print(folder.is_dir())\n"
    )
    ended = subprocess.run([sys.executable, "-c", program, tmp_path], capture_output=True, text=True, check=True)

    assert ended.stdout == "True\n"
    assert list(tmp_path.iterdir()) == []


def test_children_that_other_threads_wait_for_can_be_killed() -> None:
    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(
            processes.run, command, env=os.environ, cwd=Path.cwd(), timeout_s=60, on_message=lambda message: None
        )
        while not processes._running:
            time.sleep(0.01)
        processes.kill_running()
        ending = waiting.result(timeout=30)

    assert ending.returncode == -signal.SIGKILL
