"""The conditions in which ``pcbench compare --deploy`` loads an artifact. Shared by both halves; needs no torch."""

from __future__ import annotations

MOVED, READ_ONLY, OTHER_OWNER, NO_COMPILER, LESSER_CPU, ALL = CONDITIONS = (
    "moved",
    "read-only",
    "other owner",
    "no compiler",
    "lesser CPU",
    "all four",
)

MEANING = {
    MOVED: "another path, the capture's folder and caches gone",
    READ_ONLY: "moved, and nothing in it can be written",
    OTHER_OWNER: "moved, another user's, and trusted",
    NO_COMPILER: "moved, and no compiler on the PATH",
    LESSER_CPU: "moved, and the CPU claims a lower instruction set",
    ALL: "moved, read-only, another user's, trusted, no compiler",
}
