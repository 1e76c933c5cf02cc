"""The claims themselves, on the torch that is installed, beside what is known of it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import contract_expectations
import pytest
from contract_expectations import COSTLY, DIFFERS_EVERYWHERE, HOLDS_SINCE_2_15, expected
from expectations import RELEASE

from pcbench import claim_checking, claims, processes
from pcbench.asking import Setting
from pcbench.claims import ClaimOutcome
from pcbench.commands import main
from pcbench.samples import EAGER

CLAIMS = [claim for claim in claims.claims() if claim.document == "load_compiled_function"]

# A process each, as the command has it, would be most of the cost: torch's import.
TOGETHER = """
import json, sys
from pcbench.contract import _checking

for program in sys.argv[1:]:
    print("outcome", json.dumps([program, *_checking.outcome_of(program)]))
"""


@pytest.fixture(scope="module")
def claim_caches() -> Iterator[Path]:
    with processes.scratch() as folder:
        yield folder


@pytest.mark.slow
def test_the_claims_of_load_compiled_function_have_the_outcomes_that_are_known() -> None:
    asked = {claim.program: claim.id for claim in CLAIMS if claim.id not in COSTLY}
    ran = subprocess.run([sys.executable, "-c", TOGETHER, *asked], capture_output=True, text=True, check=False)
    lines = [line.partition(" ")[2] for line in ran.stdout.splitlines() if line.startswith("outcome ")]
    found = {asked[program]: (outcome, evidence) for program, outcome, evidence in map(json.loads, lines)}
    known = {claim_id: expected(claim_id, RELEASE) for claim_id in asked.values()}

    assert ran.returncode == 0, ran.stderr
    assert {claim_id: told for claim_id, told in found.items() if told[0] != known[claim_id]} == {}
    assert set(found) == set(known)


@pytest.mark.slow
def test_a_claim_goes_through_the_command_in_a_process_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    (asked,) = (claim for claim in CLAIMS if claim.id.endswith("in_a_process_that_never_saw_the_function"))

    assert main(["contract", "--claim", asked.id, "--json", "-"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["claims"]
    assert (told["id"], told["outcome"]) == (asked.id, ClaimOutcome.HOLDS)


@pytest.mark.full
@pytest.mark.parametrize("claim", [claim for claim in CLAIMS if claim.id in COSTLY], ids=lambda claim: claim.id)
def test_a_claim_that_compiles_has_the_outcome_that_is_known(claim: claims.Claim, claim_caches: Path) -> None:
    found = claim_checking.check(claim, Setting(EAGER), claim_caches)

    assert found.outcome is expected(claim.id, RELEASE), found.evidence


def test_what_is_known_is_of_claims_that_there_are() -> None:
    named = DIFFERS_EVERYWHERE | HOLDS_SINCE_2_15 | COSTLY

    assert named - {claim.id for claim in CLAIMS} == set()
    assert contract_expectations.expected("any.other", (2, 11)) is ClaimOutcome.HOLDS
