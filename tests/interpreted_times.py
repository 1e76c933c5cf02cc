"""Times ``vector_add`` in Triton's interpreter on a simulated GPU; it is started with TRITON_INTERPRET=1.

Prints the fields of its times, as JSON. With ``--spoiled``, the kernel adds something else from its 20th launch on.
"""

from __future__ import annotations

import itertools
import json
import sys
from dataclasses import asdict, replace
from typing import Any

import torch
from fake_gpu import FakeGpu
from pcbench_kernels import vector_add

from pcbench.errors import PcbenchError
from pcbench.kernel_timing import roofs, rotation
from pcbench.kernel_timing.rotation import Place
from pcbench.kernel_timing.timing_kernel import times_of

CALLS = itertools.count()


def spoiled(x: torch.Tensor, y: torch.Tensor) -> Any:
    return vector_add.add(x, y if next(CALLS) < 20 else x)


def main(*words: str) -> None:
    gpu = FakeGpu(piece_s=0.02, l2_bytes=24_000)
    roofs.COPIED_BYTES, rotation.LEAST_BYTES = 400_000, 0
    kernel = replace(vector_add.KERNEL, launch=spoiled) if "--spoiled" in words else vector_add.KERNEL
    try:
        times = times_of(
            gpu, "vector_add", Place(kernel, {"elements": 3000}, torch.float32, "cpu"), 2, lambda what: None
        )
    except PcbenchError as error:
        print(json.dumps({"failed": error.problem}))
    else:
        print(json.dumps(asdict(times)))


if __name__ == "__main__":
    main(*sys.argv[1:])
