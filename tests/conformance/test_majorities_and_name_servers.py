"""Majorities that lose a member, clients that ask name servers, and brokers that fall silent. What
must be said follows from docs/verdicts.md 7.3, 7.5, 9 and 11, by each story's argument."""

from typing import Any

import pytest

from tests.rigs.histories.claim_names import AFTER, DELIVERED, KEEPS, SERVED
from tests.rigs.histories.several_faults import fault, load
from tests.rigs.histories.sketches import Sketch, SketchCase, SketchCases

MINORITY, ONE_OF_THREE = "minority-failure-is-tolerated", "one-failure-of-three-is-tolerated"
ON_MAJORITY, DIES = "confirmed-is-on-a-majority", "leader-dies-follower-leads"
ELECTED, TOLERATED = "follower-is-elected", "mirror-failure-affects-own-clients"
ONE_IS_ENOUGH = "one-name-server-is-enough"
GO_ON, OLD_ROUTES = "clients-go-on-without-name-servers", "old-routes-work-on"
NOTICED, APART = "silent-broker-is-noticed-in-time", "separate-name-servers-help"
OTHER_MASTERS = "other-masters-take-over"
CASES = SketchCases()
case = CASES.case


@pytest.mark.parametrize("one", CASES, ids=str)
def test_a_majority_or_a_name_server_is_judged_as_argued(one: SketchCase) -> None:
    assert [*one.differences()] == []


# --- majorities ----------------------------------------------------------------------------------


def voting(*out_s: tuple[float, float], kind: str = "kill", role: str = "mirror") -> Sketch:
    """One of three members fails at 15 s and is back at 45 s."""
    sketch = fault(load(70, *out_s), 15, 45, kind, role=role)
    sketch.recorded[1]["consumers_connected_to_target"] = False
    sketch.declared |= {
        "elects_by_majority": True,
        "confirm_waits_for_majority": True,
        "confirm_waits_for_mirrors": False,
    }
    return sketch


@case(passes=f"{MINORITY} {TOLERATED} {ONE_OF_THREE} {AFTER} {KEEPS}", not_applicable=ELECTED)
def a_follower_dies_and_all_are_served() -> Sketch:
    return voting()


@case(f"{MINORITY} {TOLERATED} {ONE_OF_THREE}", passes=AFTER)
def a_follower_dies_and_none_is_served_until_it_is_back() -> Sketch:
    return voting((15, 46))


@case(f"{MINORITY} {AFTER}")
def a_follower_is_frozen_and_none_is_served_any_more() -> Sketch:
    return voting((20, 70), kind="freeze")


@case(f"{DELIVERED} {KEEPS} {ONE_OF_THREE} {TOLERATED}", lost=1, passes=MINORITY)
def a_follower_dies_and_a_confirmed_message_is_gone() -> Sketch:
    sketch = voting()
    sketch.lose(200)
    return sketch


@case(ONE_OF_THREE, unknown=f"{MINORITY} {TOLERATED}", passes=f"{AFTER} {DELIVERED}")
def a_follower_dies_and_who_was_connected_there_is_unknown() -> Sketch:
    """One broker that is down must harm none of the cluster's clients."""
    sketch = voting((15, 46))
    sketch.recorded[1].pop("publishers_connected_to_target")
    return sketch


@case(passes=f"{ELECTED} {ON_MAJORITY} {DIES} {ONE_OF_THREE} {KEEPS}")
def a_leader_dies_and_a_follower_leads_after_three_seconds() -> Sketch:
    return voting((15, 18), role="master")


@case(f"{ELECTED} {DIES} {ONE_OF_THREE} {SERVED}", passes=f"{KEEPS} {ON_MAJORITY} {AFTER}")
def a_leader_dies_and_none_leads_until_it_is_back() -> Sketch:
    return voting((15, 46), role="master")


# --- name servers --------------------------------------------------------------------------------


def routed(
    *out_s: tuple[float, float],
    kind: str = "kill",
    left: int = 1,
    routes: bool | None = True,
    attached: int = 1,
    **named: Any,
) -> Sketch:
    """A name server fails at 15 s and is back at 45 s; so many are left. `routes`: whether those
    answered; None: no record says."""
    sketch = fault(load(75, *out_s), 15, 45, kind, role="name server", **named)
    sketch.declared |= {
        "masters": 2,
        "copies": 2,
        "elects": False,
        "elects_by_majority": False,
        "route_poll_s": 30,
        "detection_timeout_s": 120,
    }
    sketch.recorded[1] |= {"name_servers_left": left, "publishers_attached_to_target": attached}
    if routes is not None:
        sketch.declared["routes_served_meanwhile"] = routes
    return sketch


@case(passes=f"{ONE_IS_ENOUGH} {AFTER} {DELIVERED}", not_applicable=f"{GO_ON} {OTHER_MASTERS}")
def one_of_two_name_servers_dies() -> Sketch:
    return routed()


@case(ONE_IS_ENOUGH, passes=AFTER)
def the_last_name_server_gives_no_route() -> Sketch:
    """Running clients go on. A new one would find no broker."""
    return routed(routes=False)


@case(unknown=ONE_IS_ENOUGH, passes=AFTER)
def whether_the_last_name_server_gave_routes_is_unknown() -> Sketch:
    return routed(routes=None)


@case(ONE_IS_ENOUGH, passes=AFTER)
def one_of_two_name_servers_dies_and_none_is_served_until_it_is_back() -> Sketch:
    return routed((15, 46))


@case(ONE_IS_ENOUGH)
def one_is_out_until_the_undo_and_no_record_says_what_routes_showed() -> Sketch:
    """What is refuted stays refuted."""
    return routed((15, 46), routes=None)


@case(passes=f"{GO_ON} {AFTER}", not_applicable=ONE_IS_ENOUGH)
def all_name_servers_die_and_clients_go_on() -> Sketch:
    return routed(left=0)


@case(GO_ON, passes=AFTER)
def all_name_servers_die_and_consumers_get_nothing_until_one_is_back() -> Sketch:
    sketch = routed(left=0)
    sketch.hold(16_000, 46_000)
    return sketch


@case(passes=f"{OLD_ROUTES} {ONE_IS_ENOUGH}")
def a_name_server_is_silent_and_its_clients_go_on() -> Sketch:
    return routed(kind="freeze")


@case(f"{OLD_ROUTES} {ONE_IS_ENOUGH}", passes=AFTER)
def a_name_server_is_silent_and_its_clients_are_out_until_it_answers() -> Sketch:
    return routed((15, 46), kind="freeze")


@case(not_applicable=f"{OLD_ROUTES} {ONE_IS_ENOUGH}", passes=AFTER)
def a_name_server_and_a_broker_fail_one_after_the_other() -> Sketch:
    """A client may have to find a route meanwhile: the sentence is of name servers alone."""
    return fault(routed((49, 51), kind="freeze"), 49, 60)


@case(unknown=f"{OLD_ROUTES} {ONE_IS_ENOUGH} {AFTER} {DELIVERED}")
def the_silence_of_a_name_server_was_not_verified() -> Sketch:
    return routed(kind="freeze", verified=False)


# --- brokers that fall silent --------------------------------------------------------------------


def silent(*out_s: tuple[float, float], at_target: int = 0, attached: int = 0) -> Sketch:
    """One of two masters is frozen from 15 to 75 s. Name servers give it up after 20 s, and
    clients learn that within 10 s more."""
    sketch = fault(load(95, *out_s), 15, 75, "freeze")
    sketch.declared |= {
        "masters": 2,
        "copies": 2,
        "elects": False,
        "route_poll_s": 10,
        "detection_timeout_s": 20,
    }
    sketch.recorded[1] |= {
        "name_servers_at_target": at_target,
        "publishers_attached_to_target": attached,
    }
    return sketch


@case(passes=f"{NOTICED} {APART} {OTHER_MASTERS} {AFTER}")
def a_silent_broker_is_noticed_after_25_seconds() -> Sketch:
    return silent((15, 40))


@case(f"{NOTICED} {APART}", passes=AFTER)
def a_silent_broker_is_noticed_after_40_seconds() -> Sketch:
    """Late, but before the undo: the other master did take over."""
    return silent((15, 55))


@case(f"{NOTICED} {APART} {OTHER_MASTERS}", passes=AFTER)
def a_silent_broker_is_never_noticed() -> Sketch:
    return silent((15, 76))


@case(f"{OTHER_MASTERS}", passes=AFTER, not_applicable=f"{NOTICED} {APART}")
def a_silent_broker_hides_behind_its_silent_name_server() -> Sketch:
    return silent((15, 76), at_target=1, attached=1)
