"""What is asked of torch to time work on a GPU, with torch.cuda replaced by what keeps a list; why there is none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from pcbench.errors import UnavailableError
from pcbench.kernel_timing import clocks, torch_gpu
from pcbench.kernel_timing.clocks import Clock, Clocks
from pcbench.kernel_timing.gpu import CaptureFailedError
from pcbench.kernel_timing.torch_gpu import TorchGpu

COPY_S = 1e-3


class Done(list[str]):
    """What was done, in order; and whether the GPU had come to the first event when all was queued."""

    late = False

    def event(self, **_: Any) -> Any:
        name = "end" if "new start" in self else "start"
        self.append(f"new {name}")
        return SimpleNamespace(
            record=lambda: self.append(name),
            query=lambda: self.late,
            synchronize=lambda: self.append(f"wait for {name}"),
            elapsed_time=lambda end: 1.5,
        )

    @contextmanager
    def context(self, what: Any) -> Iterator[None]:
        self.append(f"enter {what}")
        try:
            yield
        finally:
            self.append(f"leave {what}")

    def read(self) -> Clock:
        self.append("clock")
        return 1980.0, "SwPowerCap"


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> Done:
    made = Done()
    monkeypatch.setattr(torch.cuda, "Event", made.event)
    monkeypatch.setattr(torch.cuda, "CUDAGraph", lambda: SimpleNamespace(replay=lambda: made.append("replay")))
    monkeypatch.setattr(torch.cuda, "graph", lambda graph: made.context("capture"))
    monkeypatch.setattr(torch.cuda, "stream", made.context)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: "stream")
    return made


def gpu(done: Done) -> TorchGpu:
    ballast: Any = ("source", SimpleNamespace(copy_=lambda source: done.append(f"copy {source}")))
    return TorchGpu("it", "sm_90", "cuda", 1000, Clocks(done.read, None), ballast, COPY_S)


def test_work_is_between_events_behind_a_busy_gpu_and_the_clock_is_read_while_it_runs(done: Done) -> None:
    timing = gpu(done).timed(lambda: done.append("run"), 2.5 * COPY_S)

    assert done[2:] == [*["copy source"] * 3, "start", "run", "end", "clock", "wait for end"]
    assert (timing.seconds, timing.queued) == (1.5e-3, True)
    assert (timing.sm_clock_mhz, timing.throttled) == (1980.0, "SwPowerCap")


def test_work_that_the_gpu_had_begun_before_all_was_queued_is_told(done: Done) -> None:
    done.late = True

    assert not gpu(done).timed(lambda: None, 0.0).queued
    assert "copy source" not in done


def test_a_capture_is_run_again_by_its_graph(done: Done) -> None:
    gpu(done).capture(lambda: done.append("run"))()

    assert done == ["enter stream", "enter capture", "run", "leave capture", "leave stream", "replay"]


@pytest.mark.parametrize(
    ("error", "raised", "said"),
    [
        (
            RuntimeError("not permitted when stream is capturing\nmore"),
            CaptureFailedError,
            "not permitted .* capturing$",
        ),
        (torch.OutOfMemoryError("no 8 GiB"), torch.OutOfMemoryError, "no 8 GiB"),
    ],
)
def test_a_capture_that_fails_goes_back_to_the_stream_before_it(
    done: Done, error: Exception, raised: type[Exception], said: str
) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(raised, match=said):
        gpu(done).capture(fail)
    assert done[-1] == "leave stream"


@pytest.mark.usefixtures("done")
def test_clocks_that_are_not_told_have_their_reason() -> None:
    untold = TorchGpu("it", "sm_90", "cuda", 1000, clocks.untold("not asked"), (torch.empty(1), torch.empty(1)), COPY_S)
    timing = untold.timed(lambda: None, 0.0)

    assert untold.clocks_unavailable == "not asked"
    assert (timing.sm_clock_mhz, timing.throttled) == (None, None)


@pytest.mark.parametrize(
    ("backend", "arch", "target"), [("cuda", 90, "sm_90"), ("cuda", 100, "sm_100"), ("hip", "gfx942", "gfx942")]
)
def test_the_gpu_that_is_found_has_its_chip_in_tritons_words_and_how_long_a_copy_takes(
    done: Done, monkeypatch: pytest.MonkeyPatch, backend: str, arch: int | str, target: str
) -> None:
    properties = SimpleNamespace(name="It 1", uuid="1234", L2_cache_size=5)
    ballast: Any = ("source", SimpleNamespace(copy_=lambda source: done.append(f"copy {source}")))
    triton = SimpleNamespace(get_current_target=lambda: SimpleNamespace(backend=backend, arch=arch))
    monkeypatch.setattr(torch_gpu, "require", lambda: None)
    monkeypatch.setattr(torch_gpu, "driver", SimpleNamespace(active=triton))
    monkeypatch.setattr(torch.version, "hip", "7.0" if backend == "hip" else None)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: properties)
    monkeypatch.setattr(torch, "randn", lambda *shape, device: SimpleNamespace(unbind=lambda: ballast))
    monkeypatch.setattr(clocks, "nvidia_clocks", lambda uuid: clocks.untold(f"of {uuid}"))
    found = torch_gpu.found()

    assert (found.name, found.target, found.device, found.l2_bytes) == ("It 1", target, "cuda", 5)
    assert found.clocks_unavailable == ("AMD's driver is not asked" if backend == "hip" else "of 1234")
    assert found.ballast_s == pytest.approx(1.5e-3 / done[done.index("start") :].count("copy source"))


def test_a_torch_without_cuda_and_rocm_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.version, "cuda", None)
    monkeypatch.setattr(torch.version, "hip", None)

    with pytest.raises(UnavailableError, match=r"was built without CUDA and without ROCm$"):
        torch_gpu.require()


def test_a_torch_that_finds_no_driver_quotes_its_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise RuntimeError("Found no NVIDIA driver on your system.\nPlease check")

    monkeypatch.setattr(torch.version, "cuda", "13.2")
    monkeypatch.setattr(torch.cuda, "current_device", refuse)

    with pytest.raises(UnavailableError, match=r"use no GPU: RuntimeError: Found no NVIDIA driver on your system\.$"):
        torch_gpu.require()
