"""The benchmark of kernels' times: the launches that it runs over, and a run by asv with the processes replaced."""

from __future__ import annotations

import importlib
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
    samples = (Sample(1e-4, 1980.0, ""),) * pairs
    rival_samples = (Sample(2e-4, 1980.0, ""),) * pairs
    work = Work(1, 2, 3, "memory")
    return KernelTimes(
        kernel, sizes, dtype, "Simulated 1", work, "", samples, "torch.add", rival_samples, 4.0, {}, 5, 6
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


def test_the_launches_are_those_of_all_kernels(suite: ModuleType) -> None:
    assert {launch.partition(" ")[0] for launch in suite.LAUNCHES} == set(discovery.names(ROOT / "kernels"))


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("KERNEL = Kernel(shapes=SHAPES, dtypes=(torch.float16,))", "has to write out .*NameError: name 'SHAPES'"),
        ("KERNEL = Kernel(shapes=({'n': 2},), dtypes=DTYPES)", "has to write out .*AttributeError"),
        (
            "KERNEL = Kernel(shapes=({'n': 2},), dtypes=(half,))",
            "has to write out .*half is not of the form torch.float16",
        ),
        ("KERNEL = Kernel(shapes=(2,), dtypes=(torch.float16,))", "has to write out .*AttributeError"),
        ("KERNEL = Kernel(dtypes=(torch.float16,))", "has to write out .*KeyError: 'shapes'"),
        ("KERNEL = made()", "has to write out .*KeyError: 'shapes'"),
        ("OTHER = 1", "does not end in KERNEL"),
    ],
)
def test_a_kernel_that_does_not_write_out_its_launches_is_named(
    suite: ModuleType, tmp_path: Path, written: str, said: str
) -> None:
    (tmp_path / "mine.py").write_text(f"import torch\n{written}\n")

    with pytest.raises(ValueError, match=f"mine.py {said}"):
        suite._launches(tmp_path)


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
    assert {absence.reason for absence in untimed.absences.values()} == {"torch has no driver: asked 1 times"}
    assert len(untimed.absences) == 2 * len(launches)
    assert untimed.kernel_times == {}
