"""What a fault is looked at by, where others stand beside it."""

from faults.core.actions import Action, Cut, Freeze
from faults.core.model import Armed, Interference
from harness.run.fault_windows.aiming import to_look_at

HOSTS = ("rkt1", "rkt2", "rkt3", "rkt4")


def armed(window: int, kind: str, resolved: str, actions: tuple[Action, ...] = ()) -> Armed:
    how = "packet_filter"
    return Armed(window, kind, resolved, (resolved,), "", how, actions, (), "mark", HOSTS)


def test_a_fault_alone_is_looked_at_from_everywhere() -> None:
    own = armed(1, "reboot", "rkt1")
    assert to_look_at(own, {1: own}) == own


def test_a_broker_that_another_fault_freezes_is_mute() -> None:
    own, other = armed(1, "partition", "rkt1"), armed(2, "freeze", "rkt3", (Freeze("rkt3"),))
    seen = to_look_at(own, {1: own, 2: other})
    assert seen.hosts == HOSTS
    assert seen.meanwhile() == Interference(mute=frozenset({"rkt3"}))
    assert to_look_at(other, {1: own, 2: other}).meanwhile() == Interference()


def test_interference_ends_with_its_fault() -> None:
    own = armed(1, "black_hole", "rkt1")
    active = {1: own, 2: armed(2, "partition", "rkt2", (Cut((("rkt2", "rkt3"),), "other"),))}
    seen = to_look_at(own, active)
    assert seen.meanwhile().closed == {("rkt2", "rkt3")}
    del active[2]
    assert seen.meanwhile() == Interference()
