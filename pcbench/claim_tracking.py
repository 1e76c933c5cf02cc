"""The asv benchmark of claims that hold; what became of each goes into the result's sidecar. Needs no torch."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from pcbench import checkout, claim_checking, claims, discovery, processes, sidecar
from pcbench.asking import Setting, usable_cpus
from pcbench.samples import EAGER
from pcbench.tracked import samples_of


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
        _record(document, results)
        return [float(sum(result.outcome is claims.ClaimOutcome.HOLDS for result in results))]

    found = samples_of((document,), measure)
    return float(found["samples"][0]) if isinstance(found, dict) else found


@contextmanager
def _caches() -> Iterator[Path]:
    """A folder of compiler caches: one for all documents where asv's environment gave a folder."""
    shared = os.environ.get("PCBENCH_STORE")
    if shared:
        yield Path(shared) / "claims"
    else:
        with processes.scratch() as folder:
            yield folder


def _record(document: str, results: tuple[claims.ClaimResult, ...]) -> None:
    context = os.environ.get("PCBENCH_CONTEXT")
    if context:
        case = f"{os.environ.get('PCBENCH_BENCHMARK', 'unnamed')}({document})"
        for result in results:
            sidecar.add_claim(Path(context), case, asdict(result))
