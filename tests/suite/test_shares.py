"""A night's numbers are divided among machines, and among the workers of one."""

import pytest

from tests.rigs.suite.shares import CHUNKS, SHARE, chunk_of_night, share

NUMBERS = range(500, 100_003)


def test_shares_hold_every_number_once_and_name_what_is_wrong() -> None:
    shares = [share(f"{part}/7", NUMBERS) for part in range(1, 8)]
    assert [number for each in shares for number in each] == [*NUMBERS]
    for wrong in ("0/7", "8/7", "3", "a/b", "-1/7"):
        with pytest.raises(ValueError, match=f"share '{wrong}': expected K/N"):
            share(wrong, NUMBERS)


def test_chunks_of_all_machines_hold_every_number_once(monkeypatch: pytest.MonkeyPatch) -> None:
    played = list[int]()
    for machine in ("1/3", "2/3", "3/3"):
        monkeypatch.setenv(SHARE, machine)
        played += [number for chunk in range(CHUNKS) for number in chunk_of_night(chunk, NUMBERS)]
    assert played == [*NUMBERS]
    monkeypatch.delenv(SHARE)
    alone = [number for chunk in range(CHUNKS) for number in chunk_of_night(chunk, NUMBERS)]
    assert alone == [*NUMBERS]
