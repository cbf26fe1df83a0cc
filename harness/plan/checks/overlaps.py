"""Windows whose lengths contradict each other, or leave nothing to be seen.

1. Two faults that have one thing for themselves (faults.core.exclusive) may not stand there
   together. Whether late-bound words mean one host is known when the second window opens: here
   only faults that mean one host for sure (references.py) are held against each other.
2. A fault that an active one hides on the same host is refused, since no run could verify it. So
   is one that opens before an earlier fault, which it hides, was verified.
3. Lengths in layout timers are seconds on a layout only: then the cell cannot run.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from math import inf

from faults.core.actions import AddToxic, Freeze, KillClients, RaiseAlarm
from faults.core.exclusive import Thing, clash, things
from faults.core.kind import Kind, Sight
from faults.core.options import FaultOptions
from faults.core.targets import CLIENT_LINK, PEER_LINK
from harness.plan.files.references import anchor, is_fixed
from harness.plan.files.targets import Target, TargetForm
from harness.plan.model import FaultPlan

_LISTED_MAX = 3
VERIFIED_S = 5.0  # a fault on a cluster that works is verified by then
_PAUSES_FROM = 0.75  # of the detection timeout: a node that is cut off may pause from then on
_CLEARED_S = 1.0  # a canary's first words wait for an alarm that ends so soon
_THERE = "there"
PAUSING = ("pause_minority", "pause_if_all_down")  # partition handlings
_ROLES = {"all": ("publishers", "consumers")}


@dataclass(frozen=True, slots=True)
class ActiveFault:
    """An active fault: its time, in seconds after the baseline, and what it uses exclusively."""

    kind: Kind
    target: Target
    opens_s: float
    ends_s: float  # inf: nothing in the scenario ends it
    clients: tuple[str, ...]  # publishers, consumers
    resource: str  # that its host runs short of; "": of none
    rhythm_s: float = 0.0  # of a fault that comes and goes: one cut and one join

    def things(self, place: str = "") -> frozenset[Thing]:
        """What it has for itself. `place`: instead of its target."""
        place = place or self.target.word
        return things(
            self.kind,
            (place,),
            self.resource,
            links=[f"{place} of {role}" for role in self.clients],
            clients=self.clients if self.target.form is TargetForm.CLIENTS else (place,),
        )

    @property
    def kills_publishers(self) -> bool:
        """Of a fault that kills clients: whether publishers may be among them."""
        if self.target.form is TargetForm.CLIENT:
            return self.target.client.startswith("publisher-")
        return "publishers" in self.clients

    @property
    def verified_s(self) -> float:
        """From its opening until it is verified."""
        return VERIFIED_S + 2 * self.rhythm_s


@dataclass(frozen=True, slots=True)
class Pauses:
    """A layout whose nodes pause where they lose the majority: they close clients' links then."""

    detection_timeout_s: float


def active_fault(
    kind: Kind,
    target: Target,
    options: FaultOptions,
    opens_s: float,
    ends_s: float,
) -> ActiveFault:
    clients = _ROLES.get(options.affected_clients, (options.affected_clients,))
    rhythm_s = sum(options.rhythm or ())
    return ActiveFault(kind, target, opens_s, ends_s, clients, options.exhausted, rhythm_s)


def active_fault_of(fault: FaultPlan, detection_timeout_s: float, operated: bool) -> ActiveFault:
    """`operated`: whether operations of the scenario may bring back what never returns."""
    opens_s = fault.opens.resolve_s(detection_timeout_s)
    ends_s = opens_s + fault.lasts.resolve_s(detection_timeout_s)
    return active_fault(
        fault.kind,
        fault.target,
        fault.options,
        opens_s,
        ends_s if fault.returns or operated else inf,
    )


def problems(
    faults: Mapping[int, ActiveFault],
    pauses: Pauses | None = None,
    toxiproxied: Collection[Sight] = (),
) -> Iterator[tuple[int, str]]:
    """The number of each fault that opens where an earlier one stands, and what is wrong; of one
    that opens where many stand, the first few. `pauses`: the layout, where its nodes do.
    `toxiproxied`: the links that pass a real Toxiproxy."""
    targets = {number: fault.target for number, fault in faults.items()}
    active: list[int] = []  # those that opened, and have not ended
    for number in sorted(faults, key=lambda number: faults[number].opens_s):
        later = faults[number]
        active = [earlier for earlier in active if later.opens_s < faults[earlier].ends_s]
        texts = (
            _blocked(earlier, faults[earlier], later)
            if _apart(earlier, number, targets)
            else _problem(
                earlier,
                faults[earlier],
                later,
                _place(earlier, number, targets, faults),
                pauses,
            )
            or _stuck(earlier, faults[earlier], later, toxiproxied)
            for earlier in active
        )
        for text in islice(filter(None, texts), _LISTED_MAX):
            yield number, text
        active.append(number)


def _place(
    earlier: int, later: int, targets: Mapping[int, Target], faults: Mapping[int, ActiveFault]
) -> str:
    """_THERE: both mean one host for sure; "": what they mean is held against each other by their
    own words."""
    one, other = anchor(earlier, targets), anchor(later, targets)
    at_once = faults[earlier].opens_s == faults[later].opens_s
    same_word = targets[one] == targets[other] and (at_once or is_fixed(targets[one]))
    return _THERE if one == other or same_word else ""


def _apart(earlier: int, later: int, targets: Mapping[int, Target]) -> bool:
    """Whether one refers to another host than the other's."""
    pairs = ((earlier, later), (later, earlier))
    return any(_excepts(targets[anchor(one, targets)], other, targets) for one, other in pairs)


def _excepts(target: Target, other: int, targets: Mapping[int, Target]) -> bool:
    if target.form is not TargetForm.OTHER_THAN_FAULT:
        return False
    return anchor(target.fault, targets) == anchor(other, targets)


def _problem(
    number: int, earlier: ActiveFault, later: ActiveFault, place: str, pauses: Pauses | None
) -> str:
    """`earlier` is active when `later` opens."""
    if clash(earlier.things(place), later.things(place)) and (place or is_fixed(later.target)):
        return _text(number, earlier)
    if not place:
        return _blocked(number, earlier, later)
    return (
        _blocked(number, earlier, later)
        or _hidden(number, earlier, later)
        or _paused(number, earlier, later, pauses)
        or _unheard(number, earlier, later)
    )


def _blocked(number: int, earlier: ActiveFault, later: ActiveFault) -> str:
    """An alarm of any broker blocks what publishes, everywhere: canaries' words, too. A broker
    reads no connection that it blocks, so it does not notice that its client died."""
    if RaiseAlarm not in earlier.kind.actions:
        return ""
    named = f"fault {number} ({earlier.kind} {earlier.target})"
    if later.kind.canaries_speak and earlier.ends_s > later.opens_s + _CLEARED_S:
        return (
            f"{named} blocks publishers, by whose words {_a(later.kind)} is verified: let the "
            f"alarm end before the other opens"
        )
    kills = KillClients in later.kind.actions and later.kills_publishers
    if kills and earlier.ends_s + _CLEARED_S > later.ends_s:
        return (
            f"{named} blocks publishers: their brokers do not notice that one died, by which "
            f"{_a(later.kind)} is verified: let the alarm end before the other ends"
        )
    return ""


def _unheard(number: int, earlier: ActiveFault, later: ActiveFault) -> str:
    """A broker that is frozen takes no command that ends its alarm."""
    if RaiseAlarm not in earlier.kind.actions:
        return ""
    if Freeze not in later.kind.actions or later.ends_s <= earlier.ends_s:
        return ""
    return (
        f"fault {number} ({earlier.kind} {earlier.target}) ends while its broker is frozen and "
        f"takes no command: let the {later.kind} end before the alarm, or open after it"
    )


def _stuck(
    number: int, earlier: ActiveFault, later: ActiveFault, toxiproxied: Collection[Sight]
) -> str:
    """Toxiproxy does not remove a toxic that waits until the next one takes its bytes
    (Shopify/toxiproxy issues 159 and 168): its API blocks, for the other toxic, too."""
    one, other = earlier.kind, later.kind
    if later.ends_s < earlier.ends_s:
        return ""
    if AddToxic not in one.actions or AddToxic not in other.actions:
        return ""
    held = [sight for sight in toxiproxied if sight in other.hides and other.waits_for_silence]
    if one.hides or not _shared(tuple(held), one.seen_by, earlier, later):
        return ""
    return (
        f"fault {number} ({earlier.kind} {earlier.target}) ends while {_a(later.kind)} holds its "
        f"links, and Toxiproxy cannot end it then: let the {later.kind} end first"
    )


def _hidden(number: int, earlier: ActiveFault, later: ActiveFault) -> str:
    """Why no run could verify both on one host; "": a run could."""
    one, other = earlier.kind, later.kind
    named = f"fault {number} ({earlier.kind} {earlier.target})"
    if sights := _shared(one.hides, other.seen_by, earlier, later):
        return (
            f"{named} hides {sights}, by which {_a(later.kind)} is verified: let one end before "
            f"the other opens, or aim it at 'other than fault {number}'"
        )
    by_links = one.seen_by and Sight.BROKER not in one.seen_by
    if one is other and by_links and set(earlier.clients) & set(later.clients):
        return f"it cannot be distinguished from {named} on the same host, which is still active"
    if one.applies_to == PEER_LINK and other.repeats:
        return f"{named} delays the links: {_a(later.kind)} comes and goes on them too fast to see"
    sights = _shared(other.hides, one.seen_by, earlier, later)
    if sights and later.opens_s < earlier.opens_s + earlier.verified_s:
        return (
            f"{_a(later.kind)} hides {sights}, by which {named} is verified: let it open at "
            f"least {earlier.verified_s:g} s later than that"
        )
    return ""


def _paused(number: int, earlier: ActiveFault, later: ActiveFault, pauses: Pauses | None) -> str:
    """A node that is cut off from the majority pauses: it closes clients' links, and takes no
    command."""
    if pauses is None:
        return ""
    pause_s = _PAUSES_FROM * pauses.detection_timeout_s
    if Sight.PEER_LINKS not in earlier.kind.hides or 0 < earlier.rhythm_s < pause_s:
        return ""
    pauses_at_s = earlier.opens_s + pause_s
    advice = f"let it {{}} earlier, or aim it at 'other than fault {number}'"
    harm = ""
    if RaiseAlarm in later.kind.actions and later.ends_s >= pauses_at_s:
        harm = (
            f". It then takes no command, not even one that ends an alarm: {advice.format('end')}"
        )
    seen_by_links = Sight.CLIENT_LINKS in later.kind.seen_by
    if seen_by_links and later.opens_s + later.verified_s >= pauses_at_s:
        harm = (
            f", which closes the links of clients, by which {_a(later.kind)} is verified: "
            f"{advice.format('open')}"
        )
    if not harm:
        return ""
    return f"fault {number} ({earlier.kind} {earlier.target}) makes its host pause{harm}"


def _a(kind: Kind) -> str:
    return f"{'an' if kind.name[0] in 'aeiou' else 'a'} {kind}"


def _shared(
    hides: tuple[Sight, ...], seen_by: tuple[Sight, ...], earlier: ActiveFault, later: ActiveFault
) -> str:
    """What one fault hides of what the other is seen by."""
    of_links = {one.kind.applies_to for one in (earlier, later)} == {CLIENT_LINK}
    if of_links and not set(earlier.clients) & set(later.clients):
        return ""
    return " and ".join(sight.value for sight in seen_by if sight in hides)


def _text(number: int, earlier: ActiveFault) -> str:
    if earlier.ends_s == inf:
        return f"fault {number} ({earlier.kind} {earlier.target}) never releases this target"
    return (
        f"it opens while fault {number} ({earlier.kind} {earlier.target}) is active on the same "
        f"target: the end of one would undo the other"
    )
