"""Each publisher's sends, second by second: which of them failed. A drawing, no verdict: what the
marts say of it is told beside (failing.py).

1. A second is that in which something was sent; it fails if one of its sends did: it has a
   settlement, and none that confirms.
2. Seconds of one sort that follow each other are one stretch. A second in which nothing was sent
   is none.
3. Bounded: of more than ATTEMPTS_MAX attempts nothing is drawn.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from harness.run_folder import rows
from harness.run_folder.manifest import Manifest
from harness.view.routes import Row, Stretch
from spark_analysis.schema.words import Outcome

ATTEMPTS_MAX = 500_000
NS_PER_S = 1_000_000_000
WELL, FAILING = "well", "failing"
_KEY = ("producer", "sequence", "attempt")


class _Second(NamedTuple):
    number: int
    sent: int
    failed: int

    @property
    def state(self) -> str:
        return FAILING if self.failed else WELL


def sending(folder: Path, manifest: Manifest) -> tuple[Row, ...]:
    """A row a publisher, in the order of their numbers. Raises rows.Unreadable."""
    if not manifest.confirms or rows.count(folder, "attempts") > ATTEMPTS_MAX:
        return ()
    attempts = _columns(folder, "attempts", "sent_ns")
    settled = _columns(folder, "settlements", "outcome")
    keys, of_settled = _keys(attempts, settled)
    confirms = settled["outcome"] == Outcome.CONFIRMED
    failed = np.isin(keys, of_settled[~confirms]) & ~np.isin(keys, of_settled[confirms])
    sent_ns = attempts["sent_ns"]
    found = []
    for worker in sorted(manifest.workers, key=lambda one: one.number):
        own = (attempts["producer"] == worker.number) & (sent_ns >= 0)
        if own.any():
            seconds = _seconds(sent_ns[own] // NS_PER_S, failed[own])
            found.append(Row(worker.name, tuple(_stretches(worker.name, seconds))))
    return tuple(found)


def _columns(folder: Path, table: str, column: str) -> dict[str, Any]:
    """Which attempts, and a column of theirs."""
    names = [*_KEY, column]
    pieces: dict[str, list[Any]] = {name: [np.empty(0, "<i8")] for name in names}
    for batch in rows.batches(folder, table, names):
        for name in names:
            pieces[name].append(batch.column(name).to_numpy(zero_copy_only=False))
    return {name: np.concatenate(parts).astype("<i8") for name, parts in pieces.items()}


def _keys(*tables: dict[str, Any]) -> Iterator[Any]:
    """Each attempt as one number, which is the same in all tables."""
    largest = [max(int(one[name].max(initial=0)) for one in tables) for name in _KEY]
    sizes = [1 + most for most in largest]
    for table in tables:
        yield (table["producer"] * sizes[1] + table["sequence"]) * sizes[2] + table["attempt"]


def _seconds(numbers: Any, failed: Any) -> list[_Second]:
    """Those in which something was sent, in order."""
    found, which = np.unique(numbers, return_inverse=True)
    sent, wrong = np.bincount(which), np.bincount(which, weights=failed)
    parts = zip(found.tolist(), sent.tolist(), wrong.tolist(), strict=True)
    return [_Second(number, count, int(bad)) for number, count, bad in parts]


def _stretches(name: str, seconds: Sequence[_Second]) -> Iterator[Stretch]:
    # Of seconds in a row the number less the place is the same.
    told = enumerate(seconds)
    for (state, _), group in groupby(told, key=lambda one: (one[1].state, one[1].number - one[0])):
        own = [second for _, second in group]
        sent, failed = sum(one.sent for one in own), sum(one.failed for one in own)
        from_s, until_s = own[0].number, own[-1].number + 1
        words = f"{failed:,} of {sent:,} failed" if failed else f"{sent:,} sent, none failed"
        title = f"{name}: {words} from +{from_s} s to +{until_s} s"
        text = f"{failed / sent:.0%} failed" if failed else ""
        yield Stretch(from_s * NS_PER_S, until_s * NS_PER_S, state, text, title)
