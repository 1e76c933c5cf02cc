"""Operations of a kernel on its way to machine code: what each of the compiler's representations holds, counted."""

from __future__ import annotations

import re
from collections.abc import Mapping

_MLIR = re.compile(r'^\s*(?:%[^=\n]+ = )?"?([a-z]\w*\.[\w.]+)', re.MULTILINE)
_LLVM = re.compile(r"^  (?![\s;#\]])\S", re.MULTILINE)
_PTX = re.compile(r"^\s+(?:@!?%\w+\s+)?[a-z][\w.:]*(?:\s[^;]*)?;", re.MULTILINE)
_FRAMES = frozenset({"tt.func"})


def counted(asm: Mapping[str, str | bytes]) -> dict[str, int]:
    """Operations by representation, of those that there are, and conversions of layout among ``ttgir``'s.

    ``ttir`` and ``ttgir`` are Triton's, without and with layouts; ``llir`` is LLVM's; ``ptx`` is NVIDIA's.
    """
    counts = {}
    for name in ("ttir", "ttgir"):
        operations = [found for found in _MLIR.findall(_text(asm, name)) if found not in _FRAMES]
        counts[name] = len(operations)
    counts["convert_layout"] = operations.count("ttg.convert_layout")
    counts["llir"] = len(_LLVM.findall(_text(asm, "llir")))
    if "ptx" in asm:
        counts["ptx"] = len(_PTX.findall(_text(asm, "ptx")))
    return counts


def _text(asm: Mapping[str, str | bytes], name: str) -> str:
    text = asm[name]
    return text.decode() if isinstance(text, bytes) else text
