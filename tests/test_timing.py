import statistics
import subprocess
import sys
import time

import pytest

from pcbench import timing


def test_only_what_runs_in_a_phase_counts() -> None:
    clock = timing.PhaseClock()
    start = time.monotonic()
    with clock.phase("a"):
        time.sleep(0.05)
    time.sleep(0.2)
    with clock.phase("b"):
        pass
    elapsed = time.monotonic() - start

    assert clock.wall_s["a"] >= 0.05
    assert clock.wall_s["a"] + clock.wall_s["b"] <= elapsed - 0.2


def test_cpu_seconds_of_children_are_counted_and_sleep_is_not() -> None:
    clock = timing.PhaseClock()
    with clock.phase("sleep"):
        time.sleep(0.3)
    slept = clock.cpu_s
    with clock.phase("child"):
        subprocess.run([sys.executable, "-c", "sum(range(20_000_000))"], check=True)

    assert clock.wall_s["sleep"] >= 0.3
    assert clock.cpu_s - slept > slept


@pytest.mark.parametrize(
    ("command", "compilers", "builds"),
    [
        (["g++", "a.cpp", "-o", "a"], 1, 1),
        ("/usr/bin/x86_64-linux-gnu-g++-12 -c a.cpp -o a.o", 1, 1),
        (["clang++-17", "--version"], 1, 0),
        (["g++", "-E", "a.hpp", "-o", "a.i"], 1, 0),
        (["ptxas", "a.ptx", "-o", "a"], 1, 1),
        (["echo", "g++", "-o", "a"], 0, 0),
    ],
)
def test_compilers_are_counted_in_a_phase_and_told_from_other_programs(
    command: str | list[str], compilers: int, builds: int
) -> None:
    clock = timing.PhaseClock()
    sys.audit("subprocess.Popen", None, command, None, None)
    with clock.phase("load_s"):
        sys.audit("subprocess.Popen", None, command, None, None)

    assert (clock.compilers, clock.builds) == (compilers, builds)


def test_what_a_models_own_construction_compiles_is_no_sign_of_compiling_again() -> None:
    clock = timing.PhaseClock()
    with clock.phase("model_s"):
        sys.audit("subprocess.Popen", None, ["gcc", "-shared", "a.c", "-o", "a.so"], None, None)

    assert (clock.compilers, clock.builds) == (1, 0)


def test_peak_memory_is_this_processes_own() -> None:
    code = "from pcbench import timing; print(timing.peak_rss_bytes())"
    block = bytearray(300_000_000)
    told = int(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)

    assert len(block) < timing.peak_rss_bytes()
    assert 1_000_000 < told < 100_000_000


def test_pairs_are_taken_in_turn_and_tell_a_slower_function_apart() -> None:
    order: list[str] = []

    def fast() -> None:
        order.append("fast")
        time.sleep(0.001)

    def slow() -> None:
        order.append("slow")
        time.sleep(0.003)

    fasts, slows = timing.interleaved(fast, slow, pairs=6, block_s=0.0)

    assert len(fasts) == len(slows) == 6
    assert statistics.median(slows) > statistics.median(fasts)
    assert order[-12:] == ["fast", "slow", "slow", "fast"] * 3


def test_pairs_stop_at_their_budget_but_not_before_the_fifth() -> None:
    firsts, _ = timing.interleaved(lambda: time.sleep(0.02), lambda: None, pairs=50, budget_s=0.01)

    assert len(firsts) == 5
