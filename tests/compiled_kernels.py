"""Stands for the processes that compile kernels, for tests of what is asked of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from compilations import told

from pcbench import codegen_asking
from pcbench.asking import Setting

Row = dict[str, Any]
Made = Callable[[str, str, str], Row]


class Compiler:
    """Stands for the processes that compile: a row for each kernel and chip, made of the kernel's file."""

    def __init__(self) -> None:
        self.asked: list[tuple[Setting, tuple[str, ...], tuple[str, ...], str, dict[str, Any]]] = []
        self.made: Made = lambda kernel, chip, text: told(kernel=kernel, target=chip)

    def __call__(
        self,
        setting: Setting,
        kernels: Sequence[str],
        chips: Sequence[str],
        configs: str,
        on_row: Callable[[Row], None],
        on_stage: Callable[[str], None],
        **more: Any,
    ) -> list[Row]:
        self.asked.append((setting, tuple(kernels), tuple(chips), configs, more))
        rows = []
        for kernel in kernels:
            for chip in chips:
                on_stage(f"compile {kernel} for {chip}")
                rows.append(self.made(kernel, chip, self._text(setting, kernel)))
                on_row(rows[-1])
        return rows

    def _text(self, setting: Setting, kernel: str) -> str:
        if kernel.endswith(".py"):
            return (setting.cwd / kernel).read_text()
        first = (setting.env.get("PYTHONPATH") or "").partition(os.pathsep)[0]
        file = Path(first) / "pcbench_kernels" / f"{kernel}.py"
        return file.read_text() if file.is_file() else ""


def replaced(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Compiler:
    """Put one in the place of the processes, and this process into a folder."""
    found = Compiler()
    monkeypatch.setattr(codegen_asking, "collect", found)
    monkeypatch.chdir(folder)
    return found
