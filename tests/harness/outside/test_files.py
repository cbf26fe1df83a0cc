"""Files that a person gives: as much of them as is meant to be read, and why not."""

import gzip
import os
from pathlib import Path

import pytest

from harness.outside.files import (
    Unreadable,
    is_file,
    is_folder,
    real_path,
    text_of,
    why_not_written,
)

LONG = "x" * 300


@pytest.mark.parametrize("name", ["plain", "packed.gz"])
def test_no_more_is_read_than_the_bound(tmp_path: Path, name: str) -> None:
    content = b"a" * 1001
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    assert text_of(tmp_path / name, 1001) == "a" * 1001
    with pytest.raises(Unreadable, match="it holds more than 1,000 bytes"):
        text_of(tmp_path / name, 1000)


def test_an_endless_file_is_refused() -> None:
    with pytest.raises(Unreadable, match="a regular file was expected"):
        text_of(Path("/dev/zero"), 1000)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("gone", "No such file"),
        (".", "Is a directory"),
        (LONG, "File name too long"),
        ("a\0b", "null"),
        ("bytes", r"it is not UTF-8 text \(byte 1\)"),
    ],
)
def test_an_unreadable_file_is_reported_with_its_reason(
    tmp_path: Path, name: str, why: str
) -> None:
    (tmp_path / "bytes").write_bytes(b"a\xff")
    with pytest.raises(Unreadable, match=why):
        text_of(tmp_path / name, 1000)


def test_a_path_that_cannot_be_is_neither_folder_nor_file(tmp_path: Path) -> None:
    for name in (LONG, "a\0b", "gone"):
        assert not is_folder(tmp_path / name)
        assert not is_file(tmp_path / name)
    assert is_folder(tmp_path)


def test_unwritable_places_are_reported_in_advance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    assert why_not_written(tmp_path / "new" / "deeper" / "page.html") == ""
    assert why_not_written(tmp_path / "file" / "x") == f"{tmp_path / 'file'} is no folder"
    assert why_not_written(tmp_path / LONG) == "File name too long"
    assert why_not_written(tmp_path / "a\0b") == "a path has no zero in it"
    monkeypatch.setattr(os, "access", lambda *_: False)  # this may be run by root
    assert why_not_written(tmp_path / "x") == f"{tmp_path} cannot be written"


def test_a_ring_of_links_is_a_place_of_nothing(tmp_path: Path) -> None:
    (tmp_path / "ring").symlink_to(tmp_path / "back")
    (tmp_path / "back").symlink_to(tmp_path / "ring")
    for path in (tmp_path / "ring" / "x", tmp_path / "back" / "x" / "y"):
        assert "lead round in a ring" in why_not_written(path)
        assert real_path(path) == path


def test_a_link_to_a_folder_that_is_missing_is_a_place_to_be_made(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "new" / "folder")
    assert why_not_written(tmp_path / "link" / "x") == ""
    assert real_path(tmp_path / "link" / "x") == tmp_path / "new" / "folder" / "x"
