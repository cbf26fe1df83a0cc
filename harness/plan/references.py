"""PURE: targets that refer to another fault (`host of fault 1`), by the file's order.

1. A reference names an earlier fault of the file that opens no later and means one host.
2. Two faults have one host for sure where one refers to the other, or where both have the same
   word and open at one instant, or the same host's name.
"""

from collections.abc import Iterator, Mapping

from faults.kinds import KINDS
from faults.targets import HOST
from harness.plan.model import Schedule
from harness.plan.targets import MASTER, MIRROR, Target, parse_target

_FIXED = ("host", "process", "name_servers", "client", "clients")


def anchor(number: int, targets: Mapping[int, str]) -> int:
    """The fault that a chain of `host of fault N` ends at; itself where it refers to none."""
    seen = {number}
    while number in targets:
        target = parse_target(targets[number])
        if target.role != "host_of_fault" or target.fault not in targets or target.fault in seen:
            break
        number = target.fault
        seen.add(number)
    return number


def is_fixed(word: str) -> bool:
    """Whether a target means the same at every moment."""
    return parse_target(word).role in _FIXED


def shifting(schedule: Schedule, word: str, at_s: float) -> str:
    """The first fault after which a word for a queue's host may mean another host than before it;
    "": none opens before this instant."""
    queue = _queue(word)
    for window in schedule.windows:
        strikes = KINDS[window.fault.kind].applies_to == HOST
        if queue and strikes and window.opens_s < at_s and _queue(window.fault.target) == queue:
            return f"fault {window.number}"
    return ""


def _queue(word: str) -> str:
    """The queue of `master of QUEUE` or `mirror of QUEUE`; "" of another word."""
    for prefix in (MASTER, MIRROR):
        if word.startswith(prefix):
            return word.removeprefix(prefix).strip()
    return ""


def problem(number: int, target: Target, targets: Mapping[int, str]) -> str:
    """What is wrong with a reference of fault `number`; "" where nothing is."""
    if target.fault >= number:
        return f"{target.word!r} must name an earlier fault of the file"
    word = targets.get(target.fault)
    if word is None:
        return f"there is no fault {target.fault}"
    named = parse_target(word)
    if named.of_clients:
        return f"fault {target.fault} means clients, and no host"
    if named.role in ("name_servers", "balancer"):
        return f"fault {target.fault} means {word}, and no one host of a broker"
    return ""


def problems(
    targets: Mapping[int, str], opens_s: Mapping[int, float]
) -> Iterator[tuple[int, str]]:
    """The number of each fault whose reference is wrong, and what is wrong. `opens_s`: of those
    faults whose instant is known."""
    for number, word in targets.items():
        target = parse_target(word)
        if not target.fault:
            continue
        if text := problem(number, target, targets):
            yield number, text
        elif opens_s.get(target.fault, 0.0) > opens_s.get(number, float("inf")):
            yield number, f"fault {target.fault} opens later: nothing is its host yet"
