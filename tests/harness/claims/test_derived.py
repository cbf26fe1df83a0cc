"""Facts that follow from others: from what was declared, recorded, and the schedule."""

from dataclasses import replace

import pytest

from faults.kinds import KINDS
from harness.claims.values import NotApplicable, Unknown, Value, exactly
from tests.rigs.runs.findings import OF_LOGS, Story


def derived(name: str, story: Story, window: int = 1) -> Value:
    return story.evidence.value(name, window)


@pytest.mark.parametrize(
    ("kind", "state", "keeps"),
    [
        ("kill", {}, True),
        ("kill", {"durable": False}, False),
        ("stop", {"persistent": False}, False),
        ("reboot", {"durable": False}, False),
        ("freeze", {"durable": False}, True),
        ("hang", {"persistent": False}, True),
        ("kill", {"operations": 3, "lost_disk": "none"}, True),
        ("kill", {"operations": 3, "lost_disk": "first stopped"}, False),
        ("kill", {"operations": 3, "lost_disk": "none", "durable": False}, False),
        ("freeze", {"operations": 3, "lost_disk": "none", "durable": False}, None),
        ("freeze", {"operations": 3, "lost_disk": "none"}, True),
        ("freeze", {"operations": 3, "all_stopped": "at once", "persistent": False}, False),
        ("freeze", {"operations": 3, "all_stopped": "in turn", "durable": False}, False),
        ("freeze", {"operations": 3, "all_stopped": "none", "persistent": False}, None),
        ("kill", {"durable": None}, None),
        ("freeze", {"durable": None}, True),
        ("magic", {"durable": False}, None),
    ],
)
def test_an_ended_broker_keeps_durable_messages_on_disk(
    kind: str, state: dict[str, object], keeps: bool | None
) -> None:
    answer = derived("keeps", Story(kind, **state))
    assert isinstance(answer, Unknown) if keeps is None else answer is keeps


@pytest.mark.parametrize(
    ("kind", "state", "stay"),
    [
        ("kill", {"persistent": False}, True),
        ("kill", {"durable": False}, False),
        ("freeze", {"durable": False}, True),
        ("kill", {"durable": None}, None),
        ("kill", {"operations": 3, "lost_disk": "all"}, False),
    ],
)
def test_queues_stay_where_they_are_durable_whatever_their_messages_are(
    kind: str, state: dict[str, object], stay: bool | None
) -> None:
    answer = derived("queues_stay", Story(kind, **state))
    assert isinstance(answer, Unknown) if stay is None else answer is stay


def test_one_fault_that_ends_a_broker_can_lose_transient_messages() -> None:
    story = Story("freeze", durable=False).window(2, "kill", opens=40, lasts=10)
    assert derived("keeps", story) is False
    assert derived("keeps", Story(durable=False).steady()) is True


def test_each_window_says_what_its_own_fault_took() -> None:
    story = Story("magic").window(2, "kill", opens=40, lasts=10)
    assert derived("page_cache_lost", story, 2) is False
    assert isinstance(derived("page_cache_lost", story, 1), Unknown)


def test_an_unknown_end_names_the_faults() -> None:
    answer = derived("keeps", Story("magic", durable=False))
    assert answer == Unknown("a transient queue's broker may have ended (magic)")


@pytest.mark.parametrize(
    ("state", "read"),
    [
        ({"mirrors_at_fault": 1}, True),
        ({"mirrors_at_fault": 2}, NotApplicable),
        ({"mirrors_at_fault": 1, "promoted_mirror_rank": None}, Unknown),
        ({"mirrors_at_fault": 1, "promoted_mirror_rank": {"at_least": 1}}, Unknown),
        ({"mirrors_at_fault": None}, Unknown),
        ({"mirrors_at_fault": 1, "rejoined_as": "master"}, NotApplicable),
        ({"mirrors_at_fault": 1, "rejoined_as": None}, True),
        (OF_LOGS, NotApplicable),
    ],
)
def test_the_mirror_that_took_over_counts_as_read(state: dict[str, object], read: object) -> None:
    answer = derived("every_mirror_read", Story(**state))
    assert answer is True if read is True else isinstance(answer, read)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rank", "seen"), [(1, True), (2, True), (None, None), ({"at_least": 1}, None)]
)
def test_a_copy_took_over_if_every_queue_shows_it(rank: object, seen: bool | None) -> None:
    answer = derived("another_copy_took_over", Story(promoted_mirror_rank=rank))
    assert isinstance(answer, Unknown) if seen is None else answer is seen


@pytest.mark.parametrize(
    ("mirrors", "full", "every"),
    [(2, 2, True), (2, 1, False), (1, 0, False), (0, 0, True), (None, 1, None), (2, None, None)],
)
def test_every_mirror_holds_everything_or_one_does_not(
    mirrors: int | None, full: int | None, every: bool | None
) -> None:
    story = Story(mirrors_at_fault=mirrors, synchronised_mirrors_at_fault=full)
    answer = derived("every_mirror_synchronised", story)
    assert isinstance(answer, Unknown) if every is None else answer is every


@pytest.mark.parametrize(
    ("kind", "ended"), [("kill", True), ("reboot", True), ("hang", False), ("magic", None)]
)
def test_a_fault_ends_its_target_or_leaves_it_alive(kind: str, ended: bool | None) -> None:
    answer = derived("broker_ended", Story(kind))
    assert isinstance(answer, Unknown) if ended is None else answer is ended


@pytest.mark.parametrize(("attached", "notified", "left"), [(2, 2, 0), (2, 1, 1), (0, 0, None)])
def test_no_notice_is_needed_without_consumers_elsewhere(
    attached: int, notified: int, left: int | None
) -> None:
    value = derived(
        "consumers_not_notified", Story(consumers_attached=attached, consumers_cancelled=notified)
    )
    assert isinstance(value, NotApplicable) if left is None else value == exactly(left)


APART = {**OF_LOGS, "name_servers_at_target": 0, "publishers_attached_to_target": 0}


def beside(kind: str = "freeze", opens: float = 13, attached: int | None = 1) -> Story:
    """A broker without a name server falls silent, and then one that clients ask."""
    server = {"fault_target_role": "name server", "name_servers_at_target": 1}
    server["publishers_attached_to_target"] = attached  # type: ignore[assignment]
    story = Story("freeze", **APART, windows={"2": server})
    return story.window(2, kind, opens=opens, lasts=10)


@pytest.mark.parametrize(
    ("story", "silent"),
    [
        (Story("freeze", **OF_LOGS), True),
        (Story("black_hole", **OF_LOGS), True),
        (Story("reboot", **OF_LOGS), True),  # it dies without notice
        (Story("meteor", **OF_LOGS), None),  # an undeclared kind
        (beside("reboot"), True),
        (beside("hang"), True),
        (beside("meteor"), None),
        (Story("kill", **OF_LOGS), False),  # a dead one is not silent: clients go to another
        (Story("freeze", **{**OF_LOGS, "publishers_attached_to_target": 0}), False),
        (Story("freeze", **{**OF_LOGS, "publishers_attached_to_target": None}), None),
        (Story("freeze", **{**OF_LOGS, "name_servers_at_target": None}), None),
        (Story("freeze", **APART), False),
        (beside(), True),
        (beside(opens=27.1), False),  # the broker is back by then
        (beside("kill"), False),
        (beside(attached=0), False),
        (beside(attached=None), None),
    ],
)
def test_name_server_of_clients_can_fail_beside_its_broker(
    story: Story, silent: bool | None
) -> None:
    answer = derived("attached_name_server_silent", story)
    assert isinstance(answer, Unknown) if silent is None else answer is silent


@pytest.mark.parametrize(
    ("copies", "mirrors", "whole"),
    [(3, 2, True), (3, 1, False), (2, 1, True), (1, 0, True), (3, None, None), (None, 2, None)],
)
def test_queue_is_whole_with_all_copies_of_its_layout(
    copies: int | None, mirrors: int | None, whole: bool | None
) -> None:
    answer = derived("all_copies_at_fault", Story(copies=copies, mirrors_at_fault=mirrors))
    assert isinstance(answer, Unknown) if whole is None else answer is whole


def test_only_a_power_failure_loses_the_page_cache(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dark = replace(KINDS["kill"], name="power_loss", takes_page_cache=True)
    monkeypatch.setitem(KINDS, "power_loss", dark)
    assert derived("page_cache_lost", Story("kill")) is False
    assert derived("page_cache_lost", Story("power_loss")) is True
    assert isinstance(derived("page_cache_lost", Story("magic")), Unknown)
    assert isinstance(derived("page_cache_lost", Story().steady(), 0), NotApplicable)


@pytest.mark.parametrize(
    ("copies", "mirrors", "role", "left"),
    [
        (3, 2, "master", True),
        (3, 1, "master", False),
        (3, 2, "mirror", True),
        (5, 3, "mirror", True),
        (5, 2, "master", False),
        (2, 1, "master", False),
        (None, 2, "master", None),
        (3, 2, None, None),
    ],
)
def test_majority_remains_if_over_half_of_the_copies_remain(
    copies: int | None, mirrors: int, role: str | None, left: bool | None
) -> None:
    of = Story(copies=copies, mirrors_at_fault=mirrors, fault_target_role=role)
    answer = derived("majority_left", of)
    assert isinstance(answer, Unknown) if left is None else answer is left


def test_majority_question_does_not_apply_to_a_host_without_copies() -> None:
    assert isinstance(derived("majority_left", Story(fault_target_role="none")), NotApplicable)
