"""The benchmark of kernels' times: the launches that it runs over, and a run by asv with the processes replaced."""

from __future__ import annotations

import importlib
import re
import shutil
import sys
from pathlib import Path
from types import ModuleType

import git_history
import pytest
from pcbench_kernels import vector_add

from pcbench import discovery
from pcbench.analysis.asv_results import read_results
from pcbench.codegen import recording
from pcbench.kernel_samples import launch_name

ROOT = Path(__file__).parent.parent

INSTEAD_OF_PROCESSES = """

import os
from pathlib import Path

from pcbench.kernel_samples import Sample, Work


def gpu(setting):
    asked = Path(os.environ["PCBENCH_STORE"]) / "asked"
    with asked.open("a") as file:
        file.write(".")
    if not HAS_GPU:
        raise UnavailableError(f"torch has no driver: asked {asked.stat().st_size} times")
    return "Simulated 1"


def timed(setting, kernel, dtype, sizes, pairs):
    samples = (Sample(1e-4, True, 1980.0, ""),) * pairs
    rival_samples = (Sample(2e-4, True, 1980.0, ""),) * pairs
    work = Work(1, 2, 3, "memory")
    return KernelTimes(
        kernel, sizes, dtype, "Simulated 1", "sm_90", work, (), samples, "torch.add", rival_samples, 4.0, {}
    )
"""


@pytest.fixture
def suite(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT))
    monkeypatch.delitem(sys.modules, "benchmarks.suite", raising=False)
    return importlib.import_module("benchmarks.suite")


@pytest.mark.parametrize("name", discovery.names(ROOT / "kernels"))
def test_a_kernels_launches_are_what_is_compiled_of_it(suite: ModuleType, name: str) -> None:
    tracked = recording.tracked(name, ROOT, None, {})

    assert [launch for launch in suite.LAUNCHES if launch.startswith(f"{name} ")] == [
        launch_name(name, here.dtype, here.sizes) for here in tracked
    ]


def test_the_launches_are_those_of_all_kernels_each_of_which_writes_them_out(suite: ModuleType) -> None:
    assert {launch.partition(" ")[0] for launch in suite.LAUNCHES} == set(discovery.names(ROOT / "kernels"))
    assert suite.UNLISTED == {}


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (
            "KERNEL = Kernel(shapes=SHAPES, dtypes=(torch.float16,))",
            "has to write out .*ValueError: malformed node or string",
        ),
        (
            "KERNEL = Kernel(shapes=({'n': 1 << 26},), dtypes=(torch.float16,))",
            "has to write out .*ValueError: malformed node or string",
        ),
        ("KERNEL = Kernel(shapes=({'n': 2},), dtypes=DTYPES)", "has to write out .*AttributeError"),
        (
            "KERNEL = Kernel(shapes=({'n': 2},), dtypes=(half,))",
            "has to write out .*half is not of the form torch.float16",
        ),
        ("KERNEL = Kernel(shapes=(2,), dtypes=(torch.float16,))", "has to write out .*AttributeError"),
        ("KERNEL = Kernel(dtypes=(torch.float16,))", "has to write out .*KeyError: 'shapes'"),
        ("KERNEL = Kernel(shapes=({'n': 2}), dtypes=(torch.float16,))", "has to write out .*AttributeError"),
        ("KERNEL = Kernel(shapes=({'n': 2},), dtypes=(torch.float16))", "has to write out .*AttributeError"),
        ("KERNEL = Kernel(shapes=(), dtypes=(torch.float16,))", "has to write out .*one of them is empty"),
        ("KERNEL = made()", "has to write out .*KeyError: 'shapes'"),
        ("OTHER = 1", "does not end in KERNEL"),
        ("KERNEL = (", "is not Python: '\\(' was never closed"),
    ],
)
def test_a_kernel_that_does_not_write_out_its_launches_has_one_entry_and_the_reason(
    suite: ModuleType, tmp_path: Path, written: str, said: str
) -> None:
    (tmp_path / "mine.py").write_text(f"import torch\n{written}\n")
    (tmp_path / "other.py").write_text("KERNEL = Kernel(shapes=({'n': 2},), dtypes=(torch.float16,))\n")

    launches, unlisted = suite._launches(tmp_path)

    assert launches == ["mine", "other float16 n=2"]
    assert list(unlisted) == ["mine"]
    assert re.search(f"mine.py {said}", unlisted["mine"])


@pytest.mark.slow
@pytest.mark.xdist_group("test_benchmarks")
def test_a_run_has_the_times_of_each_launch_and_without_a_gpu_asks_once_for_all(tmp_path: Path) -> None:
    python = git_history.small_python(tmp_path / "python")
    packages = {"measured_packages": {"pcbench": "pcbench", "pcbench_kernels": "kernels"}}
    repository = git_history.new(tmp_path, {"shared_pythons": {"small": str(python)}, **packages})
    left_out = shutil.ignore_patterns("__pycache__", "results")
    for name in ("benchmarks", "pcbench"):
        shutil.copytree(ROOT / name, repository.root / name, ignore=left_out)
    (repository.root / "kernels").mkdir()
    for file in ("__init__.py", "vector_add.py"):
        shutil.copy(ROOT / "kernels" / file, repository.root / "kernels" / file)
    (repository.root / "kernels" / "computed.py").write_text("KERNEL = Kernel(shapes=SHAPES, dtypes=())\n")
    asking = repository.root / "pcbench" / "kernel_asking.py"
    source = asking.read_text() + INSTEAD_OF_PROCESSES
    commits = []
    for has_gpu in ("True", "False"):
        asking.write_text(source.replace("HAS_GPU", has_gpu))
        commits.append(repository.commit({}))
        ran = repository.asv("run", "HEAD^!", "-b", "bench_kernels")
        assert ran.returncode == 0, ran.stdout + ran.stderr
    results = read_results(repository.root / "results")
    runs = {run.commit: run for run in results.runs}
    timed, untimed = (runs[commit] for commit in commits)
    values = {str(case).removeprefix("bench_kernels.Times."): m.value for case, m in timed.measurements.items()}
    dtypes = [str(dtype).removeprefix("torch.") for dtype in vector_add.KERNEL.dtypes]
    launches = [f"vector_add {dtype} elements={1 << 26}" for dtype in dtypes]

    assert results.problems == ()
    for launch in launches:
        assert (values[f"track_seconds({launch})"], values[f"track_rival_seconds({launch})"]) == (1e-4, 2e-4)
        assert timed.kernel_times[launch].rival == "torch.add"
    reasons = {str(case).removeprefix("bench_kernels.Times."): a.reason or "" for case, a in untimed.absences.items()}
    unlisted = [reasons.pop(f"{what}(computed)") for what in ("track_seconds", "track_rival_seconds")]
    assert all("computed.py has to write out its shapes and dtypes" in reason for reason in unlisted)
    assert set(timed.absences) == {case for case in untimed.absences if case.param("launch") == "computed"}
    assert set(reasons.values()) == {"torch has no driver: asked 1 times"}
    assert len(reasons) == 2 * len(launches)
    assert untimed.kernel_times == {}
