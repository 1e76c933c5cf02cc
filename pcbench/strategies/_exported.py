"""What the strategies over ``torch.export`` share: an export in which marked dims stay dynamic, and its archive."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import nn

from pcbench import torch_api
from pcbench.strategies import _marked


def exported(model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> torch.export.ExportedProgram:
    """An exported program that takes every size that the marks allow.

    Raises:
        Exception: torch's own, where the model's code fixes a marked dim to one size.
    """
    if not _marked.has_marks(args, kwargs):
        return torch.export.export(model, args, kwargs)
    shapes = torch.export.ShapesCollection()  # type: ignore[no-untyped-call]  # untyped in torch

    def mark(tensor: torch.Tensor, dims: _marked.Dims) -> None:
        shapes[tensor] = {dim: torch.export.Dim.DYNAMIC(min=low, max=high) for dim, (low, high) in dims.items()}

    args, kwargs = _marked.unmarked_copies((args, kwargs), mark)
    return torch.export.export(model, args, kwargs, dynamic_shapes=shapes)


class _Sink(io.RawIOBase):
    """Takes all that is written, and keeps the first error.

    At an error, as of a full disk, torch's own writer ends the process: its destructor writes again, and throws.
    """

    def __init__(self, file: io.BufferedWriter) -> None:
        self._file = file
        self.error: OSError | None = None

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:  # noqa: ARG002  # torch does when it has written all
        return offset

    def write(self, data: Any) -> int:
        if self.error is None:
            try:
                return self._file.write(data)
            except OSError as error:
                self.error = error
        return len(data)


def write(program: torch.export.ExportedProgram, file: Path) -> None:
    """Write the program's archive.

    Raises:
        OSError: The file cannot be written.
    """
    with sink(file) as opened:
        torch_api.get("package_pt2")(opened, exported_programs={"forward": program})


@contextmanager
def sink(file: Path) -> Iterator[io.RawIOBase]:
    """What torch may write an archive to: ``file``, by way of Python.

    Raises:
        OSError: The file cannot be written.
    """
    with file.open("wb") as opened:
        found = _Sink(opened)
        yield found
        if found.error is not None:
            raise found.error
