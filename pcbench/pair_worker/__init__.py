"""One process of a pair: measures cases of an asv suite with the interpreter and the code that its variables give it.

It is started as a package of another name, and imports nothing else of pcbench: what it measures may be another
pcbench, or none. The request is a JSON file, the answers are JSON lines. ``{"do": "list"}`` answers
``{"benchmarks": [...]}`` as asv describes them; ``{"do": "cache", "name": ...}`` runs a ``setup_cache``;
``{"do": "measure", "cases": [...]}`` answers ``{"control": blocks}`` twice, and for each case ``{"starts": id}``, then
``{"case": id, "seconds": all that it took}`` with the ``value``, the ``blocks`` and the ``plan`` of a timed one, or why
there is none: ``skipped`` or ``failed``. With ``"turns"`` it takes blocks in turn with the process of the other side.
The blocks are appended to the file that the variable PCBENCH_BLOCKS names, if there is one.
"""
