"""Starts the process: see the package."""

from __future__ import annotations

import importlib

from . import memory

if __name__ == "__main__":
    memory.fix_addresses()
    importlib.import_module(".working", __package__).start()  # not before: it is what lies at those addresses
