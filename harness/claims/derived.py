"""Facts that follow from others: from the records and the schedule together.

1. Nothing is assumed: if one of the facts is unknown, the result is unknown, too, unless the
   others decide.
2. The run recorded the properties of its faults (faults/core/kind.py), which state what each takes
   away. Without them the fact is unknown.
"""

from collections.abc import Sequence

from harness.claims.spared import publishers_left
from harness.claims.state import KnownFacts
from harness.claims.values import Interval, NotApplicable, Unknown, Value, exactly
from harness.run_folder.process_ends import watch_lost_text
from spark_analysis.schema.facts import Facts, Window

TAKEN_OVER = "another_copy_took_over"
DERIVED = (
    "keeps",
    "queues_stay",
    "mirrors_gained",
    "broker_ended",
    "publishers_left",
    "page_cache_lost",
    "every_mirror_synchronised",
    "every_mirror_read",
    TAKEN_OVER,
    "attached_name_server_silent",
    "consumers_not_notified",
    "all_copies_at_fault",
    "majority_left",
)
# What a fact of the run asks to survive the end of a broker.
_LASTING = {"keeps": ("durable", "persistent"), "queues_stay": ("durable",)}
_ALL_STOPPED = ("in turn", "at once")
_NAME_SERVER = "name server"
_NONE_SEEN = "no record shows another copy in the place of the failed one"
_SOME_SEEN = "for some queues no record shows another copy in the place of the failed one"


def derive(name: str, window: int, facts: Facts, state: KnownFacts) -> Value:
    """The fact of that name, one of DERIVED."""
    if name in _LASTING:
        return _lasts(_LASTING[name], facts, state)
    if name == "mirrors_gained":
        return _mirrors_gained(state)
    if not facts.planned_windows:
        return NotApplicable("there is no fault")
    own = facts.window(window)
    match name:
        case "broker_ended":
            return _trait(own, "ends_broker")
        case "publishers_left":
            return publishers_left(facts, own)
        case "page_cache_lost":
            return _trait(own, "takes_page_cache")
        case "every_mirror_synchronised":
            return _every_mirror_synchronised(window, state)
        case "every_mirror_read":
            return _every_mirror_read(window, state)
        case "another_copy_took_over":
            return _promoted(window, state)
        case "attached_name_server_silent":
            return _attached_is_silent(own, facts, state)
        case "consumers_not_notified":
            return _not_notified(window, state)
        case "majority_left":
            return _majority_left(window, state)
    assert name == "all_copies_at_fault", name
    return _all_copies_at_fault(window, state)


def beside(window: int, facts: Facts) -> tuple[int, ...]:
    """The windows in force at the same time as this one, at some instant. A client that died or
    stood still is no fault of the cluster's: what it kept anybody from is excused by itself."""
    own = facts.window(window)
    return tuple(
        other.number
        for other in facts.windows
        if other.number != window
        and not other.of_clients
        and _overlap(own, other)
        and _overlap(other, own)
    )


def together(window: int, facts: Facts) -> frozenset[int]:
    """Return this window and all that were in force one into another with it."""
    found, more = frozenset[int](), frozenset({window})
    while more - found:
        found |= more
        more = frozenset(other for one in found for other in beside(one, facts))
    return found


def judged_between(window: int, facts: Facts) -> tuple[int, int | None]:
    """Return the time in which claims about a window judge it: until the first fault begins after
    it and all that overlap with it; None: to the end of the records. Window 0 is the time before
    the first fault."""
    origins = {each.number: each.origin_ns for each in facts.windows}
    if not window:
        return facts.load_started_ns, min(origins.values(), default=None)
    inside = together(window, facts)
    ends = [each.ended_ns for each in facts.windows if each.number in inside]
    known = [at_ns for at_ns in ends if at_ns is not None]
    later = [at_ns for at_ns in origins.values() if len(known) == len(ends) and at_ns > max(known)]
    return origins[window], min(later, default=None)


def died_before(window: int, facts: Facts) -> tuple[int, ...]:
    """Return the windows whose faults had ended a host's broker before this one came."""
    return tuple(
        other.number
        for other in facts.windows
        if other.number < window and _trait(other, "ends_broker") is True
    )


def certainly_active(numbers: Sequence[int], facts: Facts) -> bool:
    """Return whether one of these faults was verified active, and is known to have lasted so
    long."""
    return any(
        one.verified and (one.gone or one.ended_ns is not None)
        for one in facts.windows
        if one.number in numbers
    )


def began_at_once(window: int, others: Sequence[int], facts: Facts) -> bool:
    """Return whether another of these windows has the same origin, so that their effects are
    indistinguishable."""
    origins = {each.number: each.origin_ns for each in facts.windows}
    return any(origins[other] == origins[window] for other in others)


def _overlap(own: Window, other: Window) -> bool:
    """Return whether `other` began before this one ended."""
    return own.ended_ns is None or other.origin_ns < own.ended_ns


def _trait(window: Window, trait: str) -> Value:
    if window.properties is None:
        return Unknown(f"it is not declared what a {window.kind} takes")
    return bool(getattr(window.properties, trait))


def _lasts(wanted: tuple[str, ...], facts: Facts, state: KnownFacts) -> Value:
    """Return whether the ended brokers should come back with all the wanted properties durable."""
    if state.lacks("operations") is not True:
        disk = state.value("lost_disk", 0)
        if isinstance(disk, str) and disk != "none":
            return False
    if "persistent" in wanted and _took_the_only_copy(state):
        return Unknown("an operator removed a node, perhaps the only one that held the messages")
    lasting = [state.value(name, 0) for name in wanted]
    if all(one is True for one in lasting):
        return True
    ended = _broker_ended(facts, state)
    if ended is False:
        return True
    if any(one is False for one in lasting):
        # An operation may have ended any node; only one that ended every node counts here.
        return False if ended else _unknown_end(facts)
    return Unknown("it is not declared whether queues and messages survive a restart")


def _took_the_only_copy(state: KnownFacts) -> bool:
    """Return whether an operator removed a node of a cluster whose queues have one copy."""
    removed, copies = state.value("node_removed", 0), state.value("copies", 0)
    alone = isinstance(copies, Interval) and copies.low < 2
    return alone and isinstance(removed, str) and removed != "none"


def _broker_ended(facts: Facts, state: KnownFacts) -> bool | None:
    """Return whether a fault, an operation or an unplanned end stopped a broker; None: unknown."""
    ends = [_ended_broker(window) for window in facts.windows]
    ends += [True for _ in facts.process_ends]
    if any(one is True for one in ends) or state.value("all_stopped", 0) in _ALL_STOPPED:
        return True
    known = state.lacks("operations") is True and all(one is False for one in ends)
    return False if known and not facts.process_watch_lost else None


def _ended_broker(window: Window) -> bool | None:
    ends = _trait(window, "ends_broker")
    if ends is False:
        return False
    return True if ends is True and window.verified else None


def _unknown_end(facts: Facts) -> Value:
    kinds = ", ".join(window.kind for window in facts.windows) or "operations"
    if facts.process_watch_lost:
        kinds = watch_lost_text(facts.process_watch_lost)
    return Unknown(f"a transient queue's broker may have ended ({kinds})")


def _mirrors_gained(state: KnownFacts) -> Value:
    if state.lacks("operations") is True:
        return NotApplicable("there is no operation")
    copies, mirrors = state.value("copies", 0), state.value("mirrors_after_operations", 0)
    if not isinstance(copies, Interval):
        return copies
    if not isinstance(mirrors, Interval):
        return mirrors
    return exactly(mirrors.low + 1 - copies.low)


def _every_mirror_synchronised(window: int, state: KnownFacts) -> Value:
    mirrors = state.value("mirrors_at_fault", window)
    full = state.value("synchronised_mirrors_at_fault", window)
    if not isinstance(mirrors, Interval):
        return mirrors
    if not isinstance(full, Interval):
        return full
    if full.low >= mirrors.low:
        return True
    return Unknown(full.doubt) if full.high >= mirrors.low else False


def _promoted(window: int, state: KnownFacts) -> Value:
    """Return whether a mirror was seen in the master's place, for every queue of the target. The
    rank is recorded only then; if it was seen for some queues only, as a lower bound."""
    rank = state.value("promoted_mirror_rank", window)
    if isinstance(rank, Interval):
        return True if rank.low == rank.high else Unknown(_SOME_SEEN)
    return rank if isinstance(rank, NotApplicable) else Unknown(_NONE_SEEN)


def _every_mirror_read(window: int, state: KnownFacts) -> Value:
    """The mirror that took over is read, as master; the others are not, and neither is it where
    the old master came back into its place."""
    if state.value("elects", 0) is False:
        return NotApplicable("no mirror takes over in this layout")
    mirrors = state.value("mirrors_at_fault", window)
    if not isinstance(mirrors, Interval):
        return mirrors
    if mirrors.low > 1:
        return NotApplicable(
            f"a run reads only the one of the {mirrors.low:.0f} mirrors that takes over, so no "
            "run can show this of every mirror"
        )
    if state.value("rejoined_as", window) == "master":
        return NotApplicable("the old master was master again, and read in the mirror's place")
    return _promoted(window, state)


def _attached_is_silent(own: Window, facts: Facts, state: KnownFacts) -> Value:
    """Return whether a name server that publishers used fell silent with the broker, or at the
    same time."""
    at_target = state.value("name_servers_at_target", own.number)
    if not isinstance(at_target, Interval):
        return at_target
    of_windows = {each.number: each for each in facts.windows}
    affected = [own] if at_target.low else []
    for number in beside(own.number, facts):
        if state.value("fault_target_role", number) == _NAME_SERVER:
            affected.append(of_windows[number])
    answers = [_silences_attached(window, state) for window in affected]
    if True in answers:
        return True
    return next((one for one in answers if isinstance(one, Unknown)), False)


def _silences_attached(window: Window, state: KnownFacts) -> Value:
    """Return whether publishers were attached to a host that it affected, and met silence
    there."""
    silent = _trait(window, "silences_clients")
    attached = state.value("publishers_attached_to_target", window.number)
    if silent is False or (isinstance(attached, Interval) and attached.high < 1):
        return False
    if silent is True and isinstance(attached, Interval) and attached.low >= 1:
        return True
    unknown = (one for one in (silent, attached) if isinstance(one, Unknown))
    return next(unknown, False)


def _not_notified(window: int, state: KnownFacts) -> Value:
    """Return how many attached consumers were not notified; if the attached ones are unknown, all
    of the scenario count."""
    cancelled = state.value("consumers_cancelled", window)
    attached = state.value("consumers_attached", window)
    if isinstance(attached, Unknown):
        attached = state.value("consumers", 0)
    if not isinstance(attached, Interval):
        return attached
    if not isinstance(cancelled, Interval):
        return cancelled
    if not attached.low:
        return NotApplicable("no consumer of the queue was connected to another host")
    return exactly(max(0.0, attached.low - cancelled.low))


def _all_copies_at_fault(window: int, state: KnownFacts) -> Value:
    """Return whether the queue had all copies that its layout wants; otherwise a node was down
    already."""
    copies, mirrors = state.value("copies", 0), state.value("mirrors_at_fault", window)
    if not isinstance(copies, Interval):
        return copies
    if not isinstance(mirrors, Interval):
        return mirrors
    return mirrors.low + 1 >= copies.low


def _majority_left(window: int, state: KnownFacts) -> Value:
    """Return whether a majority of the queue's copies remains without the target: the leader and
    its mirrors."""
    copies, left = state.value("copies", 0), state.value("mirrors_at_fault", window)
    role = state.value("fault_target_role", window)
    if isinstance(role, Unknown | NotApplicable):
        return role
    if role not in ("master", "mirror"):
        return NotApplicable("the target holds no copy of a queue")
    if not isinstance(copies, Interval):
        return copies
    if not isinstance(left, Interval):
        return left
    return left.low > copies.low // 2
