"""Check claims of documents, each in a process of its own. For the command and asv's benchmark; needs no torch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from pcbench import processes
from pcbench.asking import Setting, ask_child, failure
from pcbench.claims import Claim, ClaimOutcome, ClaimResult
from pcbench.status import Status


def check(claim: Claim, setting: Setting, caches: Path) -> ClaimResult:
    """What becomes of a claim in a fresh process, whose compiler caches are in ``caches``.

    The setting's target is of no account.

    Raises:
        UsageError: The process must not run this code, so that no other claim would do better.
    """
    messages, ending = ask_child(replace(setting, target=claim.program), {"do": "claim"}, caches)
    failed = failure(messages, ending, setting)
    if failed is not None:  # also where it had answered: what broke may be what the claim is about
        status, reason = failed
        outcome = ClaimOutcome.UNAVAILABLE if status is Status.UNAVAILABLE else ClaimOutcome.CRASHED
        return _result(claim, outcome, reason)
    told = next((message["claim"] for message in messages if "claim" in message), None)
    if told is None:
        return _result(claim, ClaimOutcome.CRASHED, "its process ended without a word about it")
    return _result(claim, ClaimOutcome(told["outcome"]), told["evidence"])


def check_all(
    asked: Sequence[Claim],
    setting: Setting,
    caches: Path,
    *,
    jobs: int = 1,
    began: Callable[[Claim], None] = lambda claim: None,
) -> Iterator[ClaimResult]:
    """As :func:`check`, in order, ``jobs`` processes at once over one folder of caches; ``began`` is told of each.

    Finding the machine's instruction set costs a process with empty caches more than most claims do.
    """

    def one(claim: Claim) -> ClaimResult:
        began(claim)
        return check(claim, setting, caches)

    with ThreadPoolExecutor(jobs) as pool:
        try:
            yield from pool.map(one, asked)
        except BaseException:  # the pool would wait for what is still running
            pool.shutdown(wait=False, cancel_futures=True)
            processes.kill_running()
            raise


def _result(claim: Claim, outcome: ClaimOutcome, evidence: str) -> ClaimResult:
    return ClaimResult(claim.id, claim.document, claim.text, outcome, evidence)
