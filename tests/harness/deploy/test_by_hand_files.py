"""The document and the folder of clusters by hand: whole, locked, and checked when it is read."""

import errno
import fcntl
import json
from contextlib import ExitStack
from pathlib import Path

import pytest

from harness.deploy.by_hand_files import (
    DOCUMENT,
    ByHandCluster,
    ByHandClusters,
    DamagedDocument,
    ReachablePort,
    folders,
    is_held,
    load,
    save,
    state,
)
from harness.deploy.owner import owner
from harness.outside.locks import LockAnswer, lock

PORT = ReachablePort("rkt1", "broker-a-0", True, "127.64.7.11", 10911)
CLUSTER = ByHandCluster(
    "rocketmq-2m2s", "colocated@x", "A title", "mqproof-1", "127.0.0.1:1", (PORT,)
)


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    clusters = ByHandClusters(owner(), "compose", True, (CLUSTER,))
    save(tmp_path, clusters)
    assert load(tmp_path) == clusters
    assert PORT.place == "rkt1/broker-a-0"


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "{}", "null", '{"format": 1}', "\xff", "[" * 100_000]
)
def test_a_damaged_document_is_an_error_with_its_path(tmp_path: Path, content: str) -> None:
    (tmp_path / DOCUMENT).write_text(content, encoding="latin-1")
    with pytest.raises(DamagedDocument, match=DOCUMENT):
        load(tmp_path)


@pytest.mark.parametrize("key", ["owner", "deployment", "running", "clusters"])
def test_a_document_without_a_key_is_damaged(tmp_path: Path, key: str) -> None:
    save(tmp_path, ByHandClusters(owner(), "compose", True, (CLUSTER,)))
    document = json.loads((tmp_path / DOCUMENT).read_text())
    del document[key]
    (tmp_path / DOCUMENT).write_text(json.dumps(document))
    with pytest.raises(DamagedDocument):
        load(tmp_path)


def test_a_folder_is_held_while_its_keeper_lives(tmp_path: Path) -> None:
    assert not is_held(tmp_path)
    with ExitStack() as held:
        assert lock(tmp_path, held, wait=False) is LockAnswer.TAKEN
        assert is_held(tmp_path)
        assert lock(tmp_path, held, wait=False) is LockAnswer.HELD
    assert not is_held(tmp_path)


def test_a_folder_whose_lock_is_unknown_counts_as_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    assert is_held(tmp_path)
    with ExitStack() as held:
        assert lock(tmp_path, held, wait=False) is LockAnswer.UNKNOWN
        assert lock(tmp_path / "nowhere", held, wait=False) is LockAnswer.UNKNOWN


def test_the_answer_to_a_lock_is_neither_true_nor_false(tmp_path: Path) -> None:
    with ExitStack() as held, pytest.raises(TypeError, match="compare the answer"):
        bool(lock(tmp_path, held, wait=False))


def test_folders_lie_below_the_users_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert folders() == ()
    own = tmp_path / "mqproof" / "by-hand" / "abc"
    own.mkdir(parents=True)
    assert folders() == (own,) and state() == own.parent
