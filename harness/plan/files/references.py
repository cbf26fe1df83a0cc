"""PURE: targets that refer to another fault (`host of fault 1`), by the file's order.

1. A reference names an earlier fault of the file that opens no later and means one host.
2. Two faults have one host for sure where one refers to the other, or where both have the same
   word and open at one instant, or the same host's name.
"""

from collections.abc import Iterator, Mapping

from faults.core.targets import HOST
from harness.plan.files.targets import Target, TargetForm
from harness.plan.model import Schedule

_FIXED = (
    TargetForm.HOST,
    TargetForm.PROCESS,
    TargetForm.NAME_SERVERS,
    TargetForm.CLIENT,
    TargetForm.CLIENTS,
)


def anchor(number: int, targets: Mapping[int, Target]) -> int:
    """The fault that a chain of `host of fault N` ends at; itself where it refers to none."""
    seen = {number}
    while number in targets:
        target = targets[number]
        if (
            target.form is not TargetForm.HOST_OF_FAULT
            or target.fault not in targets
            or target.fault in seen
        ):
            break
        number = target.fault
        seen.add(number)
    return number


def is_fixed(target: Target) -> bool:
    """Whether a target means the same at every moment."""
    return target.form in _FIXED


def shifting(schedule: Schedule, target: Target, at_s: float) -> str:
    """The first fault after which a queue's host may be another one than before it; "": none opens
    before this instant."""
    queue = _host_of_queue(target)
    for window in schedule.windows:
        strikes = window.fault.kind.applies_to == HOST
        if (
            queue
            and strikes
            and window.opens_s < at_s
            and _host_of_queue(window.fault.target) == queue
        ):
            return f"fault {window.number}"
    return ""


def _host_of_queue(target: Target) -> str:
    """The queue of `master of QUEUE` or `mirror of QUEUE`; "" of another target."""
    return target.queue if target.form in (TargetForm.MASTER, TargetForm.MIRROR) else ""


def problem(number: int, target: Target, targets: Mapping[int, Target]) -> str:
    """What is wrong with a reference of fault `number`; "" where nothing is."""
    if target.fault >= number:
        return f"{target.word!r} must name an earlier fault of the file"
    named = targets.get(target.fault)
    if named is None:
        return f"there is no fault {target.fault}"
    if named.of_clients:
        return f"fault {target.fault} means clients, and no host"
    if named.form is TargetForm.NAME_SERVERS or named.of_balancers:
        return f"fault {target.fault} means {named}, and no one host of a broker"
    return ""


def problems(
    targets: Mapping[int, Target], opens_s: Mapping[int, float]
) -> Iterator[tuple[int, str]]:
    """The number of each fault whose reference is wrong, and what is wrong. `opens_s`: of those
    faults whose instant is known."""
    for number, target in targets.items():
        if not target.fault:
            continue
        if text := problem(number, target, targets):
            yield number, text
        elif opens_s.get(target.fault, 0.0) > opens_s.get(number, float("inf")):
            yield number, f"fault {target.fault} opens later: nothing is its host yet"
