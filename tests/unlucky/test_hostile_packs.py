"""Packs and stored experiments that somebody made to do harm."""

import io
import json
import tarfile
from pathlib import Path

import pytest

from harness.analyse import marts
from harness.campaigns.packed import judged
from harness.outside.archives import unpack
from harness.plan.problems import PlanError
from harness.run_folder import experiments
from spark_analysis.engine.failing import MartsUnwritten
from tests.rigs.runs.reports import CELL
from tests.rigs.runs.stored import document, stored


def pack(place: Path, members: dict[str, bytes | tarfile.TarInfo]) -> Path:
    with tarfile.open(place, "w:xz") as tar:
        for name, content in members.items():
            if isinstance(content, tarfile.TarInfo):
                tar.addfile(content)
                continue
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return place


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("e/link", special("e/link", tarfile.SYMTYPE, "/etc/passwd"), "neither a file nor"),
        ("e/hard", special("e/hard", tarfile.LNKTYPE, "e/other"), "neither a file nor"),
        ("e/fifo", special("e/fifo", tarfile.FIFOTYPE), "neither a file nor a folder"),
        ("e/null", special("e/null", tarfile.CHRTYPE), "neither a file nor a folder"),
        ("../out", b"", "lies outside"),
        ("/etc/out", b"", "lies outside"),
        ("/".join("a" * 30) + "/x", b"", "deeper than 12 folders"),
        ("a/" * 3_000 + "x", b"", "deeper than 12 folders"),
    ],
)
def test_a_pack_holds_files_and_folders_only(
    name: str, content: bytes | tarfile.TarInfo, why: str, tmp_path: Path
) -> None:
    file = pack(tmp_path / "bad.tar.xz", {name: content})
    with pytest.raises(PlanError, match=why):
        judged(file)


def test_no_more_is_unpacked_than_the_bound(tmp_path: Path) -> None:
    file = pack(tmp_path / "bomb.tar.xz", {f"e/{n}": b"0" * 1_000 for n in range(10)})
    with pytest.raises(ValueError, match="unpacks to more than 5,000 bytes"):
        unpack(file, tmp_path / "into", 5_000)
    assert sum(path.stat().st_size for path in (tmp_path / "into").rglob("*")) < 10_000


def test_a_run_that_is_listed_twice_is_refused(tmp_path: Path) -> None:
    stored(tmp_path / "e", [("one", CELL), ("two", CELL), ("one", CELL)])
    with pytest.raises(experiments.NoExperiment, match="run 'one' is listed 2 times"):
        experiments.recall(tmp_path / "e")
    packed = pack(tmp_path / "twice.tar.xz", {"e/experiment.json": _twice()})
    with pytest.raises(PlanError, match="listed 2 times"):
        judged(packed)


def _twice() -> bytes:
    return json.dumps(document("e", [("one", CELL), ("one", CELL)])).encode()


@pytest.mark.parametrize("name", ["marts", "marts/losses"])
def test_marts_are_not_written_through_a_symlink(name: str, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (tmp_path / "e" / "marts").mkdir(parents=True)
    if name == "marts":
        (tmp_path / "e" / "marts").rmdir()
    (tmp_path / "e" / name).symlink_to(other)
    with pytest.raises(MartsUnwritten, match="is a symlink; a folder was expected"):
        marts._make_place(tmp_path / "e" / "marts")
    assert list(other.iterdir()) == []
