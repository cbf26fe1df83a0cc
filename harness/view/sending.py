"""Each publisher's sends, second by second: which of them failed. A chart, no verdict: what the
marts say of it stands beside (failing.py).

1. A second is that in which something was sent; it fails if one of its sends did.
2. Seconds of one sort that follow each other are one stretch. A second in which nothing was sent
   is none.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from harness.run_folder.manifest import Manifest
from harness.view.routes import RouteRow, Stretch
from spark_analysis.schema.curves import Sending

NS_PER_S = 1_000_000_000
WELL, FAILING = "well", "failing"


def sending(manifest: Manifest, seconds: Iterable[Sending]) -> tuple[RouteRow, ...]:
    """A row a publisher, in the order of their numbers."""
    found, every = [], sorted(seconds)
    for worker in sorted(manifest.workers, key=lambda one: one.number):
        own = [one for one in every if one.producer == worker.number]
        if own:
            found.append(RouteRow(worker.name, tuple(_stretches(worker.name, own))))
    return tuple(found)


def _stretches(name: str, seconds: Sequence[Sending]) -> Iterator[Stretch]:
    # Of seconds in a row the number less the place is the same.
    numbered = enumerate(seconds)
    for (state, _), group in groupby(
        numbered, key=lambda one: (_state(one[1]), one[1].second - one[0])
    ):
        own = [second for _, second in group]
        sent, failed = sum(one.sent for one in own), sum(one.failed for one in own)
        from_s, until_s = own[0].second, own[-1].second + 1
        words = f"{failed:,} of {sent:,} failed" if failed else f"{sent:,} sent, none failed"
        title = f"{name}: {words} from +{from_s} s to +{until_s} s"
        text = f"{failed / sent:.0%} failed" if failed else ""
        yield Stretch(from_s * NS_PER_S, until_s * NS_PER_S, state, text, title)


def _state(second: Sending) -> str:
    return FAILING if second.failed else WELL
