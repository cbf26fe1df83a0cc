"""What was recorded when another host took a queue over from the host that a fault hit.

1. It says what happened then, never that a loss came of it: attribution is the analysis' part.
2. Hosts are named where the run recorded its looks at replicas. Older runs recorded numbers only,
   and those only of the queue of a run that has one.
3. If the fault was not verified, or a look is missing, nothing is said.
4. A loss is explained only by windows that the analysis holds for possible causes of it.
5. Sentences count times from the first fault, as the picture of a report does.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from harness.plan.layouts.role_words import RoleWords, recorded_role_words
from harness.run_folder.replica_looks import ReplicaLook
from harness.view.grouping import by_key
from harness.view.observations import Observation
from harness.view.timeline import FaultSpan
from harness.view.trace_steps import TraceStep
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.measures import GONE
from spark_analysis.schema.messages import Attribution
from spark_analysis.schema.words import window_numbers

NAME = "takeover"  # of such an observation
NS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Takeover:
    """Another host serves `queue` than before a fault. `at_ns`: it was seen then; None: unknown.

    `text`: the whole in sentences. `seen`: the change alone, for a list of events.
    """

    window: int
    queue: str
    at_ns: int | None
    text: str
    seen: str


def takeovers(
    faults: Sequence[FaultSpan],
    facts: Facts,
    state: Mapping[str, Any],
    looks: Sequence[ReplicaLook],
) -> tuple[Takeover, ...]:
    """Return every takeover on record, by fault and queue. `state`: of the manifest."""
    words = recorded_role_words(state)
    by_queue = by_key(looks, lambda look: look.queue)
    found: list[Takeover] = []
    for fault in faults:
        if not fault.verified or not fault.opened:
            continue
        for own in by_queue.values():
            found += _seen(fault, faults, own, words)
        if not by_queue:
            found += _counted(fault, faults, facts, state, words)
    return tuple(found)


def taken_over(facts: Facts, looks: Sequence[ReplicaLook]) -> dict[int, str]:
    """Return by window which host was seen in the place of the one before, and between which
    queries: `ref1; seen at +73.05 s, the query before was at +12.86 s`. Without an entry none is
    known, or there are several queues."""
    found = dict[int, str]()
    for window in facts.windows if len({look.queue for look in looks}) == 1 else ():
        later = [one.origin_ns for one in facts.windows if one.origin_ns > window.origin_ns]
        until_ns = min(later, default=looks[-1].at_ns)
        named = [look for look in looks if look.serving and look.at_ns <= until_ns]
        before = [look for look in named if look.began_ns <= window.origin_ns]
        after = (look for look in named if look.began_ns >= window.returned_ns)
        new = next((look for look in after if before and look.serving != before[-1].serving), None)
        if new is not None:
            last = [look for look in looks if look.at_ns < new.at_ns][-1]
            queried = f"the query before was at +{last.began_ns / NS:.2f} s"
            found[window.number] = f"{new.serving}; seen at +{new.at_ns / NS:.2f} s, {queried}"
    return found


def steps_of(found: Iterable[Takeover]) -> Iterator[tuple[str, TraceStep]]:
    """Yield each takeover whose time is known as an event of its queue."""
    for one in found:
        if one.at_ns is not None:
            yield one.queue, TraceStep(one.at_ns, "fault", one.seen)


def replica_steps(
    looks: Sequence[ReplicaLook], found: Iterable[Takeover], state: Mapping[str, Any]
) -> Iterator[tuple[str, TraceStep]]:
    """Yield takeovers, and the other changes of replicas that brokers reported, by queue."""
    words, taken = recorded_role_words(state), tuple(steps_of(found))
    yield from taken
    shown = {(queue, step.at_ns) for queue, step in taken}
    for queue, own in by_key(looks, lambda look: look.queue).items():
        for text, alike in groupby(own, lambda look: _reported(look, words)):
            first = next((look for look in alike if (queue, look.at_ns) not in shown), None)
            if first is not None:
                yield queue, TraceStep(first.at_ns, "replicas", text)


def explaining(
    found: Iterable[Takeover], attributions: Iterable[Attribution]
) -> tuple[Observation, ...]:
    """Return those of windows that may have caused a loss, as lines of the run."""
    windows = {
        number
        for row in attributions
        if row.measure in GONE
        for number in window_numbers(row.windows)
    }
    return tuple(
        Observation(NAME, one.window, True, one.text) for one in found if one.window in windows
    )


def _seen(
    fault: FaultSpan, faults: Sequence[FaultSpan], looks: Sequence[ReplicaLook], words: RoleWords
) -> Iterator[Takeover]:
    """`looks`: at one queue, by time."""
    since_ns = max((one.issued_ns for one in faults if one.number < fault.number), default=-NS)
    until_ns = min((one.issued_ns for one in faults if one.number > fault.number), default=None)
    before = [look for look in looks if since_ns < look.began_ns <= fault.issued_ns]
    after = [
        look
        for look in looks
        if look.began_ns >= fault.returned_ns and (until_ns is None or look.at_ns <= until_ns)
    ]
    if not before or before[-1].serving != fault.resolved:
        return
    old = before[-1]
    new = next((look for look in after if look.serving not in ("", old.serving)), None)
    if new is None or new.serving not in old.copies:
        return
    joined = _joined(new.serving, fault, faults, looks)
    copies = f"{_copies(old, words)}{joined}"
    seen = f"mqproof saw {new.serving} as {words.serving}"
    when = "when it next queried the brokers, " if new is after[0] else ""
    text = f"{_hit(fault, faults, old.queue, words)}; {copies}. "
    text += f"{seen} {when}{_since_first(new.at_ns, faults)}."
    last = [look for look in looks if look.at_ns < new.at_ns][-1]
    shown = f"the query before, at +{last.began_ns / NS:.3f} s, showed {last.serving or 'none'}"
    event = f"{seen} of {old.queue} ({shown}); when fault {fault.number} began, {copies}"
    yield Takeover(fault.number, old.queue, new.at_ns, text, event)


def _joined(
    host: str, fault: FaultSpan, faults: Sequence[FaultSpan], looks: Sequence[ReplicaLook]
) -> str:
    """Return the earlier fault at whose begin the host had no copy; "" if there is none."""
    for one in (one for one in faults if one.number < fault.number and one.opened):
        own = [look for look in looks if look.at_ns <= one.issued_ns]
        if own and own[-1].serving and host not in (own[-1].serving, *own[-1].copies):
            return f" ({host} had no copy when fault {one.number} began)"
    return ""


def _copies(look: ReplicaLook, words: RoleWords) -> str:
    """Return `the only mirror of orders was ref1, not synchronised`."""
    if not look.copies:
        return f"{look.queue} had no {words.copying}"
    if len(look.copies) == 1:
        (host,) = look.copies
        full = look.is_synchronised(host)
        state = "" if full is None else f", {'' if full else 'not '}synchronised"
        return f"the only {words.copying} of {look.queue} was {host}{state}"
    named = [look.describe(host) for host in look.copies]
    return f"the {words.copying}s of {look.queue} were {', '.join(named[:-1])} and {named[-1]}"


def _reported(look: ReplicaLook, words: RoleWords) -> str:
    copies = f"; {_copies(look, words)}" if look.serving else ""
    serving = f"{look.serving or 'none'} was {words.serving} of {look.queue}"
    return f"mqproof queried the brokers: {serving}{copies}"


def _counted(
    fault: FaultSpan,
    faults: Sequence[FaultSpan],
    facts: Facts,
    state: Mapping[str, Any],
    words: RoleWords,
) -> Iterator[Takeover]:
    """Yield what an older run recorded: numbers, and the rank of the copy that took over."""
    own = state.get("windows", {}).get(str(fault.number), {})
    rank, copies = own.get("promoted_mirror_rank"), own.get("mirrors_at_fault")
    full = own.get("synchronised_mirrors_at_fault")
    known = isinstance(rank, int) and isinstance(copies, int) and 1 <= rank <= copies
    if not known or len(facts.sent_to) != 1 or own.get("fault_target_role") != "master":
        return
    (queue,), at_ns = facts.sent_to, fault.undo_issued_ns
    had = f"{queue} had {copies} {words.copying}{'' if copies == 1 else 's'}"
    had += f", {full} synchronised" if isinstance(full, int) else ""
    which = "the oldest of them" if rank == 1 else f"number {rank} of them by age"
    which = f"that {words.copying}" if copies == 1 else which
    seen = f"mqproof saw {which} as {words.serving}"
    when = "later" if at_ns is None else f"at the latest {_since_first(at_ns, faults)}"
    text = f"{_hit(fault, faults, queue, words)}; {had}. {seen} {when}."
    event = f"when fault {fault.number} began, {had}; {seen}"
    yield Takeover(fault.number, queue, at_ns, text, event)


def _hit(fault: FaultSpan, faults: Sequence[FaultSpan], queue: str, words: RoleWords) -> str:
    what = fault.words if fault.resolved else fault.kind
    later = fault.issued_ns > _first_ns(faults)
    when = f" {_since_first(fault.issued_ns, faults)}" if later else ""
    return f"Fault {fault.number} ({what}) hit the {words.serving} of {queue}{when}"


def _since_first(at_ns: int, faults: Sequence[FaultSpan]) -> str:
    return f"{(at_ns - _first_ns(faults)) / NS:.2f} s after the first fault began"


def _first_ns(faults: Sequence[FaultSpan]) -> int:
    return min(one.issued_ns for one in faults if one.opened)
