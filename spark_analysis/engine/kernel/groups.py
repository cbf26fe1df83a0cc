"""Several consumer groups: the records of a run as each of them saw it, and one run's marts.

1. A view renames queues, leaves deliveries out, and tells which transactions were committed; it
   copies no other column. Without transactions the last costs nothing. If a group does not read
   every queue, its view leaves out the messages that it had not to get.
2. The rules are those of schema/groups.py.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np

from spark_analysis.engine.kernel.arrays import Bools, Ints, among, marked
from spark_analysis.engine.kernel.records import (
    Attempts,
    BadRecords,
    Deliveries,
    R,
    Reader,
    Settlements,
    Terms,
    Text,
)
from spark_analysis.engine.kernel.slots import Slots, make_slots
from spark_analysis.schema.availability import Stage
from spark_analysis.schema.facts import ConsumerGroup, Facts
from spark_analysis.schema.groups import OF_CONSUMING, OF_SENDING, UNITED, UNPROVED_NS
from spark_analysis.schema.messages import Attribution, Count
from spark_analysis.schema.ways import WayNumbers
from spark_analysis.schema.words import Fate

Marts = Mapping[str, Sequence[Any]]  # rows by mart


@dataclass(frozen=True, slots=True)
class RunView:
    """The facts and the records of one view."""

    facts: Facts
    reader: Reader


@dataclass(frozen=True, slots=True)
class _Renamed:
    """Reads the records of a run as one group saw them."""

    reader: Reader
    own: Mapping[str, str]  # its queues by the queues that messages are sent to
    others: tuple[str, ...]  # the queues of other groups
    elsewhere: tuple[str, ...]  # what messages are sent to and only other groups read
    ways: WayNumbers

    def read(self, kind: type[R]) -> R:
        found: Any = self.reader.read(kind)
        if kind is Deliveries:
            unread = {*self.elsewhere} - {*self.own.values()}  # an audit's finds in other logs
            found = found.pick(~found.queue.among(*self.others, *unread))
        if self.elsewhere and kind in (Attempts, Settlements, Terms):
            found = found.pick(self._had_to_come(found))
        if kind in (Attempts, Deliveries):
            found = found.changed("queue", partial(_renamed, self.own))
        if kind is Terms:
            found = found.changed("fate", partial(self._fates, found))
        return cast(R, found)

    def _had_to_come(self, rows: Attempts | Settlements | Terms) -> Bools:
        """Return which of these rows are of messages that this group had to get, or got."""
        sent, came = self.reader.read(Attempts), self.read(Deliveries)
        of_others = sent.queue.among(*self.elsewhere)
        slots = make_slots(sent.producer[of_others], sent.sequence[of_others])
        got = _among(slots, came, (came.header_ok != 0) & (came.run_ok != 0))
        slot = slots.find(rows.producer, rows.sequence)
        own: Bools = (slot < 0) | np.append(got, False)[slot]
        return own

    def _fates(self, terms: Terms, fates: Ints) -> Ints:
        """Return the fates as other groups prove them: what their consumers got was committed."""
        checked: Bools = fates == Fate.COMMIT_WHEN_CHECKED
        if not checked.any():
            return fates
        rows = self.reader.read(Deliveries)
        named = (rows.header_ok != 0) & (rows.run_ok != 0)
        early, came = among(rows.via, self.ways.load), among(rows.via, self.ways.consumed)
        others = named & early & rows.queue.among(*self.others)
        own = named & came & rows.queue.among(*self.own.values())
        slots = make_slots(terms.producer, terms.sequence)
        slot = slots.find(terms.producer, terms.sequence)
        proved = _among(slots, rows, others)[slot] & ~_among(slots, rows, own)[slot]
        return np.where(checked & proved, Fate.COMMIT, fates).astype(fates.dtype)


def _among(slots: Slots, rows: Deliveries, chosen: Bools) -> Bools:
    """Return by slot whether one of the chosen deliveries names its message."""
    slot = slots.find(rows.producer[chosen], rows.sequence[chosen])
    return marked(len(slots.taken), slot[slot >= 0])


def _renamed(names: Mapping[str, str], queue: Text) -> Text:
    words = [names.get(word, word) for word in queue.words]
    places = {word: place for place, word in enumerate(dict.fromkeys(words))}
    # The last place is read by -1, which stays.
    numbers = np.array([*(places[word] for word in words), -1], np.int32)
    return Text(tuple(places), numbers[queue.numbers])


def of_sending(facts: Facts, reader: Reader) -> RunView:
    """Return the view of sending."""
    return RunView(replace(facts, consumer_groups=()), reader)


def of_groups(facts: Facts, reader: Reader) -> Iterator[RunView]:
    """Yield the view of each group. Raise BadRecords if a delivery belongs to no known group."""
    _check(facts, reader.read(Deliveries))
    for group in facts.consumer_groups:
        others = tuple(
            queue
            for other in facts.consumer_groups
            if other is not group
            for queue in other.names.values()
        )
        elsewhere = tuple(sorted(facts.sent_to - group.names.keys()))
        renamed = _Renamed(reader, group.names, others, elsewhere, facts.way_numbers)
        yield RunView(_facts_of(group, facts), renamed)


def _check(facts: Facts, deliveries: Deliveries) -> None:
    queues = [queue for group in facts.consumer_groups for queue in group.names.values()]
    audited = among(deliveries.via, facts.way_numbers.audit)
    known = deliveries.queue.among(*queues)
    known |= audited & deliveries.queue.among(*facts.sent_to)
    if not known.all():
        raise BadRecords("a delivery is in no queue of a consumer group")


def _facts_of(group: ConsumerGroup, facts: Facts) -> Facts:
    others = {
        number
        for other in facts.consumer_groups
        if other is not group
        for number in other.consumers
    }
    workers = (
        worker
        for worker in facts.workers
        if worker.role != "consumer" or worker.number not in others
    )
    own = group.names.values()
    within_ns = facts.checks_within_ns
    if within_ns is not None and not all(
        worker.log_closed for worker in facts.workers if worker.number in others
    ):
        within_ns = UNPROVED_NS
    return replace(
        facts,
        checks_within_ns=within_ns,
        workers=tuple(workers),
        queues=tuple(end for end in facts.queues if end.queue in own),
        competing_leaders=tuple(
            replace(one, queue=group.names.get(one.queue, one.queue))
            for one in facts.competing_leaders
        ),
        consumer_groups=(),
    )


def merged(sending: Marts, groups: Sequence[Marts]) -> dict[str, list[Any]]:
    """Return the rows of the run's marts. Those that are made of its cases are not among them."""
    every = {name: [row for marts in groups for row in marts[name]] for name in sending}
    found = {name: [*rows] for name, rows in sending.items()}
    found |= {name: list(dict.fromkeys(every[name])) for name in UNITED}
    counted = [row for row in sending["counts"] if row.measure in OF_SENDING]
    counted += [row for row in every["counts"] if row.measure not in OF_SENDING]
    return {
        **found,
        "counts": _counts(counted),
        "attributions": _attributions(every["attributions"]),
        "stages": [
            *(row for row in sending["stages"] if row.stage not in OF_CONSUMING),
            *_latest(row for row in every["stages"] if row.stage in OF_CONSUMING),
        ],
    }


def _counts(rows: Iterable[Count]) -> list[Count]:
    sums: Counter[tuple[str, str, str, str]] = Counter()
    for row in rows:
        sums[row.run, row.queue, row.measure, row.detail] += row.count
    return [Count(*what, number) for what, number in sums.items()]


def _attributions(rows: Iterable[Attribution]) -> list[Attribution]:
    sums: Counter[tuple[str, str, str, str]] = Counter()
    for row in rows:
        sums[row.run, row.measure, row.detail, row.windows] += row.count
    return [Attribution(*what, number) for what, number in sums.items()]


def _latest(rows: Iterable[Stage]) -> list[Stage]:
    """Return the latest row of each window and stage."""
    found: dict[tuple[int, str], Stage] = {}
    for row in rows:
        known = found.setdefault((row.window, row.stage), row)
        if (not row.reached, row.after_ns) > (not known.reached, known.after_ns):
            found[row.window, row.stage] = row
    return [*found.values()]
