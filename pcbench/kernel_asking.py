"""Ask a fresh process what a kernel takes on the GPU. For asv's benchmarks; needs no torch."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pcbench import asking, processes
from pcbench.asking import Setting
from pcbench.codegen_asking import ENVIRONMENT
from pcbench.errors import PcbenchError, UnavailableError
from pcbench.kernel_samples import KernelTimes, launch_name, read_times
from pcbench.status import Status


class NoTimesError(PcbenchError):
    """A kernel has no time on a machine with a GPU.

    Attributes:
        status: What became of it, such as WRONG_RESULT.
    """

    def __init__(self, status: Status, problem: str) -> None:
        super().__init__(problem)
        self.status = status


def gpu(setting: Setting) -> str:
    """The name of the GPU that the setting's torch uses.

    Raises:
        UnavailableError: It can use none, for this reason.
        NoTimesError: The process crashed or hung.
    """
    return str(_answer(setting, {"do": "find_gpu"}, "gpu", "a process that looked for a GPU"))


def timed(setting: Setting, kernel: str, dtype: str, sizes: str, pairs: int) -> KernelTimes:
    """A kernel at one of the sizes and dtypes that it is tracked at, timed in a process of its own.

    The machine code is that of the rows of codegen: Triton has the same options.

    Args:
        setting: Its target is of no account.

    Raises:
        UnavailableError: There is no GPU, or the kernel is not tracked there, or the GPU lacks what it needs.
        NoTimesError: Its answer was wrong, Triton refused it, or the process crashed or hung.
        UsageError: There is no such kernel.
    """
    env = {**ENVIRONMENT, "TRITON_DUMP_PTXAS_LOG": None, **setting.env}
    request = {"do": "kernel_times", "kernel": kernel, "dtype": dtype, "sizes": sizes, "pairs": pairs}
    return read_times(_answer(replace(setting, env=env), request, "kernel_times", launch_name(kernel, dtype, sizes)))


def _answer(setting: Setting, request: dict[str, Any], key: str, about: str) -> Any:
    """What a process told under ``key``."""
    with processes.scratch() as folder:
        messages, ending = asking.ask_child(setting, request, folder / "caches")
    failed = asking.failure(messages, ending, setting)
    if failed is not None:
        status, reason = failed
        if status is Status.UNAVAILABLE:
            raise UnavailableError(reason)
        raise NoTimesError(status, f"{about}: {reason}")
    return next(message[key] for message in messages if key in message)
