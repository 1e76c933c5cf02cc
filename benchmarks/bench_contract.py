"""How many promises of torch's documents hold; the report shows which of them changed, and what happens instead."""

from __future__ import annotations

from benchmarks import suite


class Contract:
    """Claims that a small program saw hold, by document; each claim runs in a process of its own.

    The sidecar has what became of each claim.
    """

    version = "1"
    timeout = 7200
    param_names = ("document",)
    params = (suite.DOCUMENTS,)

    def setup(self, *case):
        suite.require_commit(*case)
        suite.require("claims_holding", *case)

    def track_holding(self, document):
        return suite.tracking.claims_holding(document)

    track_holding.unit = "claims"


Contract.track_holding.worse = "any"
