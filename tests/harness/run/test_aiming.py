"""What a fault is looked at by, where others stand beside it."""

import pytest

from faults.model import Armed
from harness.run.aiming import to_look_at

HOSTS = ("rkt1", "rkt2", "rkt3", "rkt4")


def armed(window: int, kind: str, resolved: str) -> Armed:
    return Armed(window, kind, resolved, resolved, "", "packet_filter", (), (), "mark", HOSTS)


def test_a_fault_alone_is_looked_at_from_everywhere() -> None:
    own = armed(1, "reboot", "rkt1")
    assert to_look_at(own, {1: own}) == own


@pytest.mark.parametrize("kind", ["reboot", "black_hole", "freeze"])
def test_a_host_that_another_fault_silences_tells_nothing_of_this_one(kind: str) -> None:
    own, other = armed(1, "reboot", "rkt1"), armed(2, kind, "rkt3")
    assert to_look_at(own, {1: own, 2: other}).hosts == ("rkt1", "rkt2", "rkt4")
    assert to_look_at(other, {1: own, 2: other}).hosts == ("rkt2", "rkt3", "rkt4")


def test_a_host_whose_process_was_killed_does_tell() -> None:
    own, other = armed(1, "black_hole", "rkt1"), armed(2, "kill", "rkt3/broker-a-1")
    assert to_look_at(own, {1: own, 2: other}).hosts == HOSTS


def test_the_struck_host_itself_is_always_looked_at() -> None:
    own, other = armed(1, "black_hole", "rkt1"), armed(2, "freeze", "rkt1/name-server")
    assert to_look_at(own, {1: own, 2: other}).hosts == HOSTS
