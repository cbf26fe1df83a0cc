"""FIFOs and devices where files were: nothing that judges or heals waits for them."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.analyse.marts import judge_one
from harness.cleanup.heal import RunningProject, mend
from harness.plan.problems import PlanError
from harness.request import run_request, topology_file
from harness.run import folder_lock
from harness.run_folder import experiments, packing
from spark_analysis.files.failed import Failed
from tests.harness.cleanup.fake_guardian import Folder
from tests.rigs.runs.reports import CELL
from tests.rigs.runs.stored import stored
from tests.unlucky.damage import recorded

pytestmark = pytest.mark.timeout(60)  # a read that blocks fails the test
Put = Callable[[Path], None]
SPECIAL: dict[str, Put] = {
    "FIFO": os.mkfifo,
    "endless device": lambda path: path.symlink_to("/dev/zero"),
}


@pytest.mark.parametrize("kind", SPECIAL)
@pytest.mark.parametrize("sealed", [True, False])
def test_run_with_a_special_file_is_refused_by_its_name(
    kind: str, sealed: bool, tmp_path: Path
) -> None:
    names = sorted(
        path.relative_to(tmp_path / "base" / "runs" / "one")
        for path in recorded(tmp_path / "base" / "runs" / "one", sealed=sealed).rglob("*")
        if path.is_file() and (not sealed or "logs" not in path.parts)
    )
    assert len(names) > 2
    run = recorded(tmp_path / "e" / "runs" / "one", sealed=sealed)
    for name in names:
        kept = (run / name).read_bytes()
        (run / name).unlink()
        SPECIAL[kind](run / name)
        judged = judge_one(run)
        assert isinstance(judged, Failed), name
        assert "a regular file was expected" in judged.reason, name
        assert not judged.trace, judged.trace
        with pytest.raises(packing.NotPacked):
            packing.pack("e", {}, [run], tmp_path / "e.tar.xz")
        (run / name).unlink()
        (run / name).write_bytes(kept)


@pytest.mark.parametrize("kind", SPECIAL)
def test_an_experiment_with_a_special_file_is_refused(kind: str, tmp_path: Path) -> None:
    folder = stored(tmp_path / "e", [("one", CELL)])
    (folder / experiments.NAME).unlink()
    SPECIAL[kind](folder / experiments.NAME)
    (problem, *_) = experiments.problems([folder])
    assert experiments.NAME in str(problem)
    SPECIAL[kind](folder / folder_lock.MARK)
    assert list(folder_lock.problems([folder])) == []


@pytest.mark.parametrize("kind", SPECIAL)
def test_healing_sweeps_where_the_journal_is_a_special_file(kind: str, tmp_path: Path) -> None:
    (tmp_path / "runs" / "one").mkdir(parents=True)
    SPECIAL[kind](tmp_path / "runs" / "one" / "journal.jsonl")

    async def rows() -> list[str]:
        found = mend(Folder(tmp_path), RunningProject("p", tmp_path, "", False), "heal")
        return [f"{row.what} {row.doubt}" async for row in found]

    lines = asyncio.run(rows())
    assert "a regular file was expected" in lines[0]
    assert "sweep away" in lines[1]


@pytest.mark.parametrize("kind", SPECIAL)
def test_scenarios_and_topologies_are_regular_files(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    SPECIAL[kind](path)
    with pytest.raises(PlanError, match="a regular file was expected"):
        run_request.scenario(str(path))
    with pytest.raises(PlanError, match="a regular file was expected"):
        topology_file.read(str(path), run_request.systems())
