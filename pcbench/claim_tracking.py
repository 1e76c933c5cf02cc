"""The asv benchmark of claims that hold; what became of each goes into the result's sidecar. Needs no torch."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from pcbench import checkout, claim_checking, claims, discovery, processes
from pcbench.asking import Setting, usable_cpus
from pcbench.samples import EAGER
from pcbench.tracked import one_number, tell


def claims_holding(document: str) -> float:
    """How many claims of a document were seen to hold, of the commit's claims.

    One that crashed is none of them, although nothing is known of it: the sidecar says so.
    """

    def measure() -> list[float]:
        known = claims.claims()
        discovery.check_name("document", document, tuple(dict.fromkeys(claim.document for claim in known)))
        own = [claim for claim in known if claim.document == document]
        with _caches() as caches:
            setting = Setting(EAGER, cwd=checkout.root())
            results = tuple(claim_checking.check_all(own, setting, caches, jobs=usable_cpus()))
        for result in results:
            tell((document,), "claim", asdict(result))
        return [float(sum(result.outcome is claims.ClaimOutcome.HOLDS for result in results))]

    return one_number((document,), measure)


@contextmanager
def _caches() -> Iterator[Path]:
    """A folder of compiler caches: one for all documents where asv's environment gave a folder."""
    shared = os.environ.get("PCBENCH_STORE")
    if shared:
        yield Path(shared) / "claims"
    else:
        with processes.scratch() as folder:
            yield folder
