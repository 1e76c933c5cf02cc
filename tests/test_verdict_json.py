import json
from dataclasses import replace
from typing import NoReturn

from judgements import NASTY, finding, judgement, nasty

from pcbench.analysis.records import Verdict
from pcbench.analysis.verdict_json import as_json


def refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def test_a_finding_has_all_its_numbers() -> None:
    told = json.loads(as_json(judgement([finding(Verdict.SLOWER, paired=True)], ("mlp", "no GPU"), notes=["a note"])))

    assert told["findings"] == [
        {
            "case": "bench_load.Load.track_first_output(encoder)",
            "benchmark": "bench_load.Load.track_first_output",
            "params": {"model": "encoder"},
            "machine": "vm",
            "environment": "shared-torch2.15.0",
            "verdict": "SLOWER",
            "reason": "1 s -> 1.25 s",
            "rule": "beyond 5%",
            "against": "accepted 1a2b3c4d",
            "paired": True,
            "unit": "seconds",
            "baseline": 1.0,
            "candidate": 1.25,
            "ratio": 1.25,
            "confirm": "",
        }
    ]
    assert {key: told[key] for key in told if key not in ("findings", "next")} == {
        "schema": 1,
        "exit_code": 1,
        "outcome": "exit 1: 1 case got worse (1 SLOWER)",
        "baseline": "accepted 1a2b3c4d",
        "candidate": "9f8e7d6c in shared-torch2.15.0 on vm",
        "notes": ["a note"],
        "counts": {"SLOWER": 1},
        "unavailable": [
            {
                "case": "bench_gone.track(mlp)",
                "benchmark": "bench_gone.track",
                "params": {"model": "mlp"},
                "reason": "no GPU",
            }
        ],
    }


def test_numbers_that_json_has_not_are_null() -> None:
    odd = [replace(finding(Verdict.FAILED), baseline=float("nan"), candidate=float("inf"))]
    told = json.loads(as_json(judgement(odd)), parse_constant=refuse)

    assert [told["findings"][0][key] for key in ("baseline", "candidate", "ratio")] == [None, None, None]


def test_names_come_back_as_they_were() -> None:
    text = as_json(nasty())

    assert text.isascii()
    assert [one["case"] for one in json.loads(text)["unavailable"]] == list(NASTY)
