"""What operators do to the disk of a node that is down, and to no other."""

from pathlib import Path

import pytest

from reference_impl.metadata.exchanges import predeclared
from reference_impl.metadata.messages import Term
from reference_impl.node.config import Config
from reference_impl.node.happenings import Saved
from reference_impl.node.offline import Undone
from reference_impl.shell import offline
from reference_impl.shell.disk import FolderDisk, read_saved, write_saved
from tests.reference_impl.nodes import COOKIE


def config(folder: Path) -> Config:
    return Config("ref1", "127.0.0.1", str(folder), COOKIE)


def with_tables(folder: Path) -> Config:
    tables = predeclared()
    tables.version, tables.nodes = 7, ("ref1", "ref2", "ref3")
    write_saved(folder, Saved(tables, Term(3, "ref2"), ("ref2", "ref3")))
    return config(folder)


def found(folder: Path) -> Saved:
    saved = read_saved(folder)
    assert saved is not None
    return saved


def test_a_forced_boot_waits_for_none_and_counts_as_newest(tmp_path: Path) -> None:
    offline.force_boot(with_tables(tmp_path))
    saved = found(tmp_path)
    assert (saved.running, saved.term, saved.tables.version) == ((), Term(4, "ref1"), 7)
    assert saved.tables.nodes == ("ref1", "ref2", "ref3")


def test_an_offline_forget_lets_its_node_boot_without_waiting(tmp_path: Path) -> None:
    offline.forget(with_tables(tmp_path), "ref3")
    saved = found(tmp_path)
    assert (saved.running, saved.term, saved.tables.version) == ((), Term(4, "ref1"), 8)
    assert (saved.tables.nodes, saved.tables.forgotten) == (("ref1", "ref2"), ("ref3",))


@pytest.mark.parametrize(
    ("node", "why"), [("ref1", "cannot forget itself"), ("ref9", "is not in the cluster")]
)
def test_a_refused_forget_changes_no_tables(tmp_path: Path, node: str, why: str) -> None:
    own = with_tables(tmp_path)
    before = (tmp_path / "tables").read_bytes()
    with pytest.raises(Undone, match=why):
        offline.forget(own, node)
    assert (tmp_path / "tables").read_bytes() == before


def test_a_blank_node_has_nothing_to_load_by_force(tmp_path: Path) -> None:
    with pytest.raises(Undone, match="ref1 has no tables"):
        offline.force_boot(config(tmp_path))
    with pytest.raises(Undone, match="ref1 has no tables"):
        offline.forget(config(tmp_path), "ref3")


def test_a_wiped_disk_is_blank_but_never_repeats_a_boot(tmp_path: Path) -> None:
    own = with_tables(tmp_path)
    disk = FolderDisk(tmp_path, lambda _: None)
    first = disk.next_boot()
    disk.close()
    (tmp_path / "queues" / "orders.log").write_bytes(b"messages")
    offline.wipe(own)
    assert read_saved(tmp_path) is None and not (tmp_path / "queues").exists()
    again = FolderDisk(tmp_path, lambda _: None)
    assert again.next_boot() > first
    again.close()


def test_a_node_that_runs_has_its_disk_for_itself(tmp_path: Path) -> None:
    own = with_tables(tmp_path)
    with offline.held(tmp_path):
        for operate in (offline.force_boot, offline.wipe, lambda it: offline.forget(it, "ref3")):
            with pytest.raises(offline.InUse, match="a node runs on"):
                operate(own)
    assert found(tmp_path).running == ("ref2", "ref3")
    offline.wipe(own)
