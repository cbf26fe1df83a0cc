"""Consistency of facts: statements that contradict each other.

1. `check` is for facts of any history. `check_recorded` is for those of our own runs, whose facts
   name every worker and queue that they mention.
2. Windows may stand and begin in any order: overlapping faults may be issued in another order than
   planned.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import fields

from spark_analysis.schema.declared import Listener, brief
from spark_analysis.schema.facts import Cause, Facts, Window
from spark_analysis.schema.ways import way_mistakes
from spark_analysis.schema.words import ProblemCause, UnverifiedCause, level_mistakes

ROLES = ("publisher", "consumer")  # of the workers that are judged


def check(facts: Facts, listener: Listener) -> None:
    """Tells the listener of everything that contradicts itself."""
    if facts.format != Facts.__dataclass_fields__["format"].default:
        listener.add("facts.format", f"{facts.format} is not the format of these records")
    if facts.load_ended_ns < facts.load_started_ns:
        listener.add("facts.load_ended_ns", "the load ends before it starts")
    for problem in level_mistakes(facts.levels):
        listener.add("facts.levels", problem)
    for problem in way_mistakes(facts.ways):
        listener.add("facts.ways", problem)
    if facts.deadline_ns < 0:
        listener.add("facts.deadline_ns", f"{facts.deadline_ns} is below 0")
    for place, number in again(worker.number for worker in facts.workers):
        listener.add(f"facts.workers[{place}].number", f"{number} stands there twice")
    for place, worker in enumerate(facts.workers):
        if worker.number < 0:
            listener.add(
                f"facts.workers[{place}].number", f"{worker.number} is below 0: a canary's"
            )
    for place, queue in again(queue.queue for queue in facts.queues):
        listener.add(f"facts.queues[{place}].queue", f"{brief(queue)} stands there twice")
    _check_groups(facts, listener)
    numbers = [window.number for window in facts.planned_windows]
    if numbers != [*range(1, len(numbers) + 1)]:
        listener.add("facts.windows", "they are not numbered from 1")
    for place, window in enumerate(facts.windows):
        _check_window(window, f"facts.windows[{place}]", listener)
    for place, window in enumerate(facts.not_begun):
        _check_window(window, f"facts.not_begun[{place}]", listener)
        if window.verified or window.gone or window.ended_ns is not None:
            text = "a fault that never began was neither verified nor undone"
            listener.add(f"facts.not_begun[{place}]", text)
    if facts.problem_cause not in tuple(ProblemCause):
        every = tuple(ProblemCause)
        listener.unknown("facts.problem_cause", "cause", facts.problem_cause, every)
    for number, end in enumerate(facts.process_ends):
        if end.cause not in tuple(Cause):
            place_of = f"facts.process_ends[{number}].cause"
            listener.unknown(place_of, "cause", end.cause, tuple(Cause))
    for name, from_ns, until_ns in _spans(facts):
        if until_ns is not None and until_ns < from_ns:
            listener.add(f"facts.{name}", f"one ends at {until_ns}, before it begins")
    for place, number in again(clock.worker for clock in facts.clocks):
        listener.add(f"facts.clocks[{place}].worker", f"{number} stands there twice")
    for number, clock in enumerate(facts.clocks):
        if clock.bound_ns < 0:
            listener.add(f"facts.clocks[{number}].bound_ns", f"{clock.bound_ns} is below 0")


def written_later(recorded: object, kind: type = Facts) -> str:
    """Return a sentence to append to what is wrong, if a document of this kind has keys that this
    version does not know; "" otherwise. A key may decide a verdict, so nothing is judged without
    it."""
    known = {one.name for one in fields(kind)}
    keys = sorted(map(brief, recorded.keys() - known)) if isinstance(recorded, Mapping) else []
    if not keys:
        return ""
    return f"; a newer mqproof may have written {', '.join(keys)}: judge the run with that one"


def check_recorded(facts: Facts, listener: Listener) -> None:
    """The same of a run of ours, and whether everybody is there of whom it speaks."""
    check(facts, listener)
    workers = {worker.number for worker in facts.workers}
    for place, worker in enumerate(facts.workers):
        if worker.role not in ROLES:
            listener.unknown(f"facts.workers[{place}].role", "role", worker.role, ROLES)
    for place, absence in enumerate(facts.absences):
        if absence.worker not in workers:
            listener.add(f"facts.absences[{place}].worker", f"there is no worker {absence.worker}")
    queues = {queue.queue for queue in facts.queues}
    for place, leaders in enumerate(facts.competing_leaders):
        if leaders.queue not in queues:
            listener.add(
                f"facts.competing_leaders[{place}].queue",
                f"there is no queue {brief(leaders.queue)}",
            )


def _check_groups(facts: Facts, listener: Listener) -> None:
    """Tells the listener whatever leaves open which group a message or a worker belongs to."""
    groups, place = facts.consumer_groups, "facts.consumer_groups"
    for number, name in again(group.name for group in groups):
        listener.add(f"{place}[{number}].name", f"{brief(name)} stands there twice")
    for what, found in (
        ("queue", [one.queue for group in groups for one in group.queues]),
        ("consumer", [one for group in groups for one in group.consumers]),
    ):
        for _, name in again(found):
            listener.add(place, f"{what} {brief(name)} stands there twice")
    own = {one.queue for group in groups for one in group.queues}
    for number, group in enumerate(groups):
        for of in sorted(facts.sent_to - group.names.keys()):
            listener.add(f"{place}[{number}].queues", f"it has no queue of {brief(of)}")
        for _, twice in again(one.of for one in group.queues):
            listener.add(f"{place}[{number}].queues", f"it has two queues of {brief(twice)}")
    for of in sorted(facts.sent_to & own if groups else ()):
        listener.add(place, f"{brief(of)} is a group's queue, and messages are sent to it")
    for number, end in enumerate(facts.queues):
        if groups and end.queue not in own:
            text = f"{brief(end.queue)} is the queue of no consumer group"
            listener.add(f"facts.queues[{number}].queue", text)


def _check_window(window: Window, place: str, listener: Listener) -> None:
    if window.returned_ns < window.origin_ns:
        listener.add(f"{place}.returned_ns", "it is before origin_ns")
    if window.ended_ns is not None and window.ended_ns < window.origin_ns:
        listener.add(f"{place}.ended_ns", "it is before origin_ns")
    if (cause := window.unverified_cause) not in tuple(UnverifiedCause):
        listener.unknown(f"{place}.unverified_cause", "cause", cause, tuple(UnverifiedCause))


def _spans(facts: Facts) -> Iterator[tuple[str, int, int | None]]:
    yield from (
        ("competing_leaders", one.from_ns, one.until_ns) for one in facts.competing_leaders
    )
    yield from (("absences", one.from_ns, one.until_ns) for one in facts.absences)
    yield from (
        ("leadership_changes", one.origin_ns, one.over_ns) for one in facts.leadership_changes
    )
    yield from (("operations", one.origin_ns, one.over_ns) for one in facts.operations)
    yield from (("process_ends", one.at_ns, one.until_ns) for one in facts.process_ends)


def again(values: Iterable[Hashable]) -> Iterator[tuple[int, Hashable]]:
    """The places of those that stood there before."""
    seen: Counter[Hashable] = Counter()
    for place, value in enumerate(values):
        seen[value] += 1
        if seen[value] > 1:
            yield place, value
