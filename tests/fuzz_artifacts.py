"""Damaged artifacts of every strategy: each must be refused with a layer and a sentence, before any of its code runs.

``python tests/fuzz_artifacts.py --variants 1000 --seed 0`` says how many each layer refused, and ends with 1 if any
variant was taken that must not be, or refused otherwise. A variant is that of its seed and number: ``--only NUMBER``.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from unittest import mock

import artifact_bases as bases
import torch
from artifact_damage import DAMAGES, SIGNED, TRUSTED

import pcbench
from pcbench import signing, strategies, vetting
from pcbench.errors import ArtifactError
from pcbench.strategies import Runner, Strategy

_HANG_S = 30
_CHILD_S = 300
_LONGEST = 2000
_RAN = "ran"


class _PassedError(Exception):
    """All checks were passed, and the strategy was called to load."""


@dataclass(frozen=True)
class Variant:
    """A damaged artifact: what it was, what was done to it, and how it is presented."""

    number: int
    strategy: str
    damage: str
    way: str

    def __str__(self) -> str:
        return f"variant {self.number}, {self.strategy}, {self.damage}, {self.way}"


def variant(seed: int, number: int) -> tuple[Variant, Random]:
    """The variant of that number, and the generator that damages it."""
    rng = Random(f"{seed} {number}")
    strategy = bases.STRATEGIES[number % len(bases.STRATEGIES)]
    able = sorted(
        name
        for name, damage in DAMAGES.items()
        if (not damage.archive or strategy in ("export", "aoti")) and (not damage.root or os.geteuid() == 0)
    )
    name = rng.choice(able)
    ways = DAMAGES[name].ways
    way = SIGNED if SIGNED in ways and rng.random() < 0.5 else rng.choice(ways)
    return Variant(number, strategy, name, way), rng


def make(made: Path, place: Path, each: Variant, rng: Random) -> Path:
    """Damage a copy of the armed artifact, or of the clean one where it may be taken; its folder."""
    damage = DAMAGES[each.damage]
    source = made / ("clean" if damage.harmless or damage.may_pass else "armed")
    folder = place / "artifact"
    shutil.copytree(source / each.strategy, folder)
    other = rng.choice([name for name in bases.STRATEGIES if name != each.strategy])
    damage.apply(folder, rng, source / other)
    if each.way == SIGNED and (folder / "manifest.json").is_file():
        bases.signed_again(folder, digests=damage.digests)
    return folder


def knock(folder: Path, *, trust: bool) -> str:
    """What ``pcbench.load`` makes of it: the layer that refused it, or "passed"; nothing of it is loaded."""

    def named(name: str) -> Strategy:
        return replace(real(name), load=_pass)

    real = strategies.named
    try:
        with mock.patch.object(strategies, "named", named), torch.no_grad():
            pcbench.load(folder, bases.build(), trust=trust)
    except _PassedError:
        return "passed"
    except ArtifactError as error:
        if len(str(error)) > _LONGEST or "\x1b" in str(error):
            raise AssertionError(f"a sentence for no terminal: {error!s:.300}") from error
        if error.layer not in vetting.LAYERS and "cannot be copied to" not in error.problem:
            raise AssertionError(f"a refusal by no layer: {error}") from error
        return error.layer or "room"
    raise AssertionError("a load gave a runner without the strategy's load")


def _pass(*_: object) -> Runner:
    raise _PassedError


@contextmanager
def _limit(seconds: int) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TimeoutError("it hung")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def run(made: Path, seed: int, numbers: range) -> tuple[dict[str, Counter[str]], list[str]]:
    """Try the variants: what became of them, by strategy, and a line for each that went wrong."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in bases.STRATEGIES}
    faults: list[str] = []
    taken: dict[Path, Variant] = {}
    with tempfile.TemporaryDirectory(prefix="pcbench-fuzz-") as top, mock.patch.dict(os.environ):
        place, kept, canary = Path(top, "place"), Path(top, "taken"), Path(top, "canary")
        kept.mkdir()
        os.environ[bases.CANARY], os.environ["TMPDIR"], tempfile.tempdir = str(canary), str(kept.parent), None
        for number in numbers:
            each, rng = variant(seed, number)
            place.mkdir()
            folder = make(made, place, each, rng)
            there = {path.name for path in place.iterdir()}
            try:
                with _limit(_HANG_S):
                    outcome = knock(folder, trust=each.way == TRUSTED)
            except Exception as error:
                outcome = "untyped"
                faults.append(f"{each}: {type(error).__name__}: {str(error)[:300]}")
            counts[each.strategy][outcome] += 1
            damage = DAMAGES[each.damage]
            if outcome == "passed" and not (damage.harmless or damage.may_pass):
                faults.append(f"{each}: was taken")
            elif outcome == "passed":
                taken[folder.rename(kept / str(number))] = each
            elif damage.harmless:
                faults.append(f"{each}: was refused: {outcome}")
            if canary.exists() or {path.name for path in place.iterdir()} - there:
                faults.append(f"{each}: ran code, or wrote beside the artifact")
                canary.unlink(missing_ok=True)
            shutil.rmtree(place)
        for folder, answer in load(made, list(taken), [each.way == TRUSTED for each in taken.values()]).items():
            refused_by_torch = DAMAGES[taken[folder].damage].archive and answer.startswith("raised")
            if answer != "right" and not refused_by_torch:
                faults.append(f"{taken[folder]}: loaded: {answer}")
        faults += [f"left behind: {path}" for path in Path(top).glob("pcbench-scratch-*")]
    tempfile.tempdir = None
    return counts, faults


def load(made: Path, folders: list[Path], trust: list[bool]) -> dict[Path, str]:
    """Load and call the artifacts in a child; "right" for each whose answer is eager's, and what else happened."""
    answers: dict[Path, str] = {}
    todo = list(zip(map(str, folders), trust, strict=True))
    while todo:
        for graphs in ("aotautograd", "fxgraph"):  # what is loaded shall be the artifact's
            shutil.rmtree(made / "caches" / graphs, ignore_errors=True)
        env = environment(made)
        command = [sys.executable, __file__, "--load", json.dumps(todo)]
        try:
            child = subprocess.run(command, env=env, capture_output=True, text=True, timeout=_CHILD_S, check=False)
            lines, ended = child.stdout, f"ended with {child.returncode}: {child.stderr[-300:]}"
        except subprocess.TimeoutExpired as error:
            lines, ended = (error.stdout or b"").decode(), "hung"
        told = [json.loads(line) for line in lines.splitlines() if line.startswith('["')]
        answers |= {Path(folder): answer for folder, answer in told}
        todo = todo[len(told) :]
        if todo:
            answers[Path(todo.pop(0)[0])] = ended
    return answers


def _load_here(todo: list[tuple[str, bool]]) -> None:
    torch.set_num_threads(1)
    model, x = bases.build(), bases.inputs()
    for folder, trust in todo:
        os.environ[bases.CANARY] = f"{folder}.{_RAN}"
        with torch.no_grad():
            try:
                answer = pcbench.load(folder, model, trust=trust)(x)
                said = "right" if torch.allclose(answer, model(x)) else "wrong"
            except Exception as error:  # a strategy may raise anything: it is told
                said = f"raised {type(error).__name__}: {str(error)[:200]}"
        print(json.dumps([folder, said]), flush=True)


def fired(made: Path) -> dict[str, bool]:
    """Whether the code of each strategy's armed artifact runs when that is loaded, as it was signed."""
    folders = [made / "armed" / name for name in bases.STRATEGIES]
    load(made, folders, [False] * len(folders))
    return {folder.name: Path(f"{folder}.{_RAN}").exists() for folder in folders}


def environment(made: Path) -> dict[str, str]:
    """That of the processes that capture and load: a key and compiler caches below the folder."""
    named = {signing.KEYFILE: str(made / "key"), "TORCHINDUCTOR_CACHE_DIR": str(made / "caches")}
    return os.environ | named | {"OMP_NUM_THREADS": "1", "TMPDIR": str(made / "tmp")}


def prepare(made: Path) -> None:
    """Make the artifacts that are damaged, below the folder, if they are not there."""
    (made / "tmp").mkdir(parents=True, exist_ok=True)
    os.environ.update(environment(made))
    if not (made / "done").exists():
        (made / "key").touch(0o600)
        (made / "key").write_text(os.urandom(32).hex())
        subprocess.run([sys.executable, bases.__file__, str(made)], env=environment(made), check=True)
        (made / "done").touch()


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variants", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="this variant alone")
    parser.add_argument("--made", type=Path, help="a folder that keeps the undamaged artifacts")
    parser.add_argument("--load", type=json.loads, help=argparse.SUPPRESS)
    args = parser.parse_args(arguments)
    if args.load is not None:
        _load_here(args.load)
        return 0
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory(prefix="pcbench-fuzz-") as own:
        made = args.made or Path(own)
        prepare(made)
        numbers = range(args.variants) if args.only is None else range(args.only, args.only + 1)
        counts, faults = run(made, args.seed, numbers)
        faults += [f"the armed artifact of {name} ran no code" for name, ran in fired(made).items() if not ran]
    for name, outcomes in counts.items():
        print(json.dumps({"strategy": name, **dict(sorted(outcomes.items()))}))
    print("\n".join(faults) or f"{len(numbers)} variants, as they should be")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
