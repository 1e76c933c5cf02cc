"""A file is written whole or not at all."""

from pathlib import Path

import pytest

from pcbench import machine, sidecar
from pcbench.commands._files import write
from pcbench.errors import PcbenchError
from pcbench.whole_files import aside, write_whole


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file takes ten bytes and no more."""

    def stop(self: Path, data: bytes) -> int:
        with self.open("wb") as file:
            file.write(data[:10])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", stop)


def test_a_file_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    write_whole(tmp_path / "a", b"first")
    write_whole(tmp_path / "a", b"second")

    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a": b"second"}


def test_what_stops_the_writing_leaves_the_earlier_file_alone(tmp_path: Path) -> None:
    write_whole(tmp_path / "a", b"first")

    def stopped() -> None:
        with aside(tmp_path / "a") as beside:
            beside.write_bytes(b"sec")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a": b"first"}


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "b").symlink_to("a")
    write_whole(tmp_path / "b", b"through")

    assert (tmp_path / "b").is_symlink()
    assert (tmp_path / "a").read_bytes() == b"through"


def test_a_device_is_written_to_itself() -> None:
    write_whole(Path("/dev/null"), b"gone")

    assert Path("/dev/null").is_char_device()


@pytest.mark.usefixtures("full_disk")
def test_a_full_disk_leaves_what_was_there_and_no_rest(tmp_path: Path) -> None:
    for name in ("file", "machines", "sidecar"):
        (tmp_path / name).write_text("{}")

    with pytest.raises(PcbenchError, match="No space left"):
        write(tmp_path / "file", b"more than ten bytes")
    with pytest.raises(OSError, match="No space left"):
        machine.ensure("lab", tmp_path / "machines")
    with pytest.raises(OSError, match="No space left"):
        sidecar.begin(tmp_path / "sidecar", {"commit": "c" * 40})
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == dict.fromkeys(
        ("file", "machines", "sidecar"), "{}"
    )
