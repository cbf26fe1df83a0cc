"""Claims about faults that are not alone: what each can have caused, and what overlaps."""

from dataclasses import replace

import pytest

from harness.claims.claims import read_claims
from harness.claims.doubts import BY_LATE_CONFIRMS, BY_UNKNOWN_ENDS
from harness.claims.judge import ClaimOutcome, judge
from tests.harness.claims.claim_stories import NO_CONSUMERS, rejoined
from tests.harness.claims.judging import (
    FAIL,
    INCONCLUSIVE,
    NOT_APPLICABLE,
    PASS,
    verdict,
)
from tests.rigs.runs.findings import RECORDED, Story

SYNCHRONISED = dict(RECORDED)
UNSYNCHRONISED = {**RECORDED, "synchronised_mirrors_at_fault": 0}


def two_kills(second: dict[str, object] = SYNCHRONISED, opens: float = 40) -> Story:
    """Two masters are killed in turn, by default one 13 s after the other is back."""
    story = Story(faults=2, windows={"2": second})
    return story.window(2, "kill", opens=opens, lasts=10)


def test_a_silence_belongs_to_the_fault_that_it_followed() -> None:
    story = two_kills().silence(13, window=1).silence(1, window=2)
    silences = [story.evidence.claimed("silence_s", window) for window in (1, 2)]
    assert [str(one).split(" (")[0] for one in silences] == ["13.000 s", "1.000 s"]


def judged(predicate: str, story: Story, **keys: str) -> ClaimOutcome:
    """A claim of a test's own about masters that hold a mirror with everything."""
    lines = "".join(f"{key} = {value}\n" for key, value in {"quantifier": '"all"', **keys}.items())
    (claim,) = read_claims(
        '[[claim]]\nname = "a"\nsentence = "s"\nsource = "x"\n'
        f'precondition = ["synchronised_mirrors_at_fault >= 1"]\npredicate = ["{predicate}"]\n'
        f"{lines}",
        "a test's own",
    )
    one = judge(claim, story.evidence)
    return one.outcome


@pytest.mark.parametrize(
    ("windows", "second", "outcome"),
    [
        ("1", SYNCHRONISED, FAIL),
        ("1,2", SYNCHRONISED, FAIL),  # either: the claim holds for neither
        ("1,2", UNSYNCHRONISED, INCONCLUSIVE),  # it may be the one that it does not speak of
        ("1", UNSYNCHRONISED, FAIL),
        ("2", UNSYNCHRONISED, PASS),
        ("", SYNCHRONISED, PASS),  # in the steady state, by none of them
        ("0,1", SYNCHRONISED, INCONCLUSIVE),  # by clocks: by the first, or in the steady state
        ("0,2", UNSYNCHRONISED, PASS),  # the claim covers neither
    ],
)
def test_loss_is_attributed_to_the_faults_that_can_cause_it(
    windows: str, second: dict[str, object], outcome: ClaimOutcome
) -> None:
    story = two_kills(second).count("lost", "replicated", 3, windows=windows)
    assert verdict("election-loses-nothing", story).outcome is outcome
    assert verdict("confirmed-is-delivered", story).outcome is FAIL, "whatever caused it"


def test_ambiguous_cause_is_reported_with_what_to_do() -> None:
    story = two_kills(UNSYNCHRONISED).count("lost", "replicated", 3, windows="1,2")
    one = verdict("election-loses-nothing", story)
    assert one.not_judged == (
        "3 of 21,400 confirmed messages were lost; uncertain, because all 3 may be due to fault "
        "1 or to fault 2 (`lost == 0`)",
    )
    (advice,) = one.advice
    assert advice.startswith("leave more time between these faults: ")


def test_without_consumers_no_distance_between_faults_is_advised() -> None:
    story = two_kills(UNSYNCHRONISED).count("lost", "replicated", 3, windows="1,2")
    story.state |= NO_CONSUMERS
    one = verdict("election-loses-nothing", story)
    (advice,) = one.advice
    assert advice.startswith("add consumers, which read the queue between the faults ")
    assert (
        "may be due to fault 1 or to fault 2: no client read the queue between these faults, so "
        "no record shows what it held when the later one began (`lost == 0`)"
    ) in one.not_judged[0]


def test_certain_losses_are_counted_apart_from_ambiguous_ones() -> None:
    story = two_kills(UNSYNCHRONISED).count("lost", "replicated", 2, windows="1")
    story.count("lost", "stored", 1, windows="1,2")
    one = verdict("election-loses-nothing", story)
    assert one.outcome is FAIL
    assert one.judged[0] == (
        "2 of 21,400 confirmed messages were lost (certainly due to fault 1); the claim allows "
        "none (`lost == 0`)"
    )


@pytest.mark.parametrize(
    ("over_ns", "reason"), [(None, BY_UNKNOWN_ENDS), (40_000_000_000, BY_LATE_CONFIRMS)]
)
def test_a_loss_without_certain_fault_says_why(
    over_ns: int | None, reason: tuple[str, str]
) -> None:
    story = Story().count("lost", "replicated", 3, windows="0,1")
    (window,) = story.facts.windows
    story.facts = replace(story.facts, windows=(replace(window, over_ns=over_ns),))
    one = verdict("election-loses-nothing", story)
    why = "all 3 may be due to fault 1 or to no fault: " + reason[0]
    assert one.not_judged == (
        f"3 of 21,400 confirmed messages were lost; uncertain, because {why} (`lost == 0`)",
    )
    assert one.advice[0] == reason[1]
    again = Story().count("duplicated", "stored_twice", 2, windows="0,1")
    assert verdict("one-copy", again).outcome is FAIL, "whatever caused it"


def test_an_open_end_of_another_fault_leaves_this_one_judged() -> None:
    story = two_kills(UNSYNCHRONISED).count("loss_unknown", "drain", 5, windows="2")
    story.doubt("loss", "drain", queue="orders")
    assert verdict("election-loses-nothing", story).outcome is PASS
    story.count("loss_unknown", "drain", 1, windows="1")
    assert verdict("election-loses-nothing", story).outcome is INCONCLUSIVE


def test_a_warning_is_charged_like_a_promise() -> None:
    claim = "unsynchronised-messages-are-lost"
    assert verdict(claim, two_kills(UNSYNCHRONISED)).outcome is FAIL
    by_other = two_kills(UNSYNCHRONISED).count("lost", "replicated", 3, windows="1")
    assert verdict(claim, by_other).outcome is FAIL
    by_either = two_kills(UNSYNCHRONISED).count("lost", "replicated", 3, windows="1,2")
    assert verdict(claim, by_either).outcome is INCONCLUSIVE
    by_it = two_kills(UNSYNCHRONISED).count("lost", "replicated", 3, windows="2")
    assert verdict(claim, by_it).outcome is PASS


@pytest.mark.parametrize(("opens", "outcome"), [(26.9, NOT_APPLICABLE), (27.0, PASS)])
def test_simultaneous_faults_are_not_distinguished(opens: float, outcome: ClaimOutcome) -> None:
    """The first lasts until +27 s."""
    one = verdict("mirror-takes-over", two_kills(opens=opens))
    assert one.outcome is outcome
    if outcome is NOT_APPLICABLE:
        why = ", and the claim speaks of one failed node; to judge it, let one fault end before "
        assert one.not_judged == (
            f"fault 1: fault 2 was in force at the same time{why}the next begins",
            f"fault 2: fault 1 was in force at the same time{why}the next begins",
        )
        assert one.advice == ()


def test_faults_of_one_origin_may_be_distinguished_in_another_run() -> None:
    one = verdict("mirror-takes-over", two_kills(opens=12))
    assert one.outcome is INCONCLUSIVE
    assert one.advice == ("let one fault end before the next begins",)


def test_unknown_precondition_beside_another_fault_cannot_be_decided() -> None:
    unknown: dict[str, object] = {**RECORDED, "synchronised_mirrors_at_fault": None}
    story = two_kills(unknown, opens=20)
    assert verdict("mirror-takes-over", story).outcome is NOT_APPLICABLE


def test_a_claim_about_faults_that_overlap_is_judged_beside_others() -> None:
    story = two_kills(opens=20)
    assert judged("available_during_fault == true", story) is NOT_APPLICABLE
    assert judged("available_during_fault == true", story, beside_others="true") is PASS


@pytest.mark.parametrize(
    ("first", "second", "outcome"),
    [
        (("kill", 13), ("kill", 20), PASS),
        (("stop", 13), ("kill", 20), PASS),
        (("freeze", 13), ("kill", 20), NOT_APPLICABLE),
        (("undeclared", 13), ("kill", 20), NOT_APPLICABLE),
        (("client_freeze", 13), ("kill", 20), PASS),
    ],
)
def test_claims_about_already_stopped_nodes_are_judged_beside_their_ends(
    first: tuple[str, float], second: tuple[str, float], outcome: ClaimOutcome
) -> None:
    mirror = {"fault_target_role": "mirror", "synchronised_mirrors_at_fault": 0}
    story = Story(faults=2, **mirror, windows={"2": SYNCHRONISED}).steady()
    for number, (kind, opens) in enumerate((first, second), 1):
        story.window(number, kind, opens=opens, lasts=10)
    assert judged("available_during_fault == true", story, beside_dead="true") is outcome
    if first[0] == "kill":
        assert judged("available_during_fault == true", story) is NOT_APPLICABLE


def test_node_that_ends_later_was_not_down_before() -> None:
    story = Story(faults=2, windows={"2": UNSYNCHRONISED}).window(2, "kill", opens=20)
    assert judged("available_during_fault == true", story, beside_dead="true") is NOT_APPLICABLE


def test_the_last_mirror_takes_over_while_those_before_are_down() -> None:
    mirror = {"fault_target_role": "mirror", "partition_handling": "ignore"}
    last = {**RECORDED, "mirrors_at_fault": 1, "synchronised_mirrors_at_fault": 1}
    story = Story(faults=2, **mirror, windows={"2": last}).steady().window(1, "kill", lasts=None)
    story.window(2, "kill", opens=40)
    assert verdict("fails-over-down-to-the-last", story).outcome is PASS
    assert verdict("mirror-takes-over", story).outcome is NOT_APPLICABLE


@pytest.mark.parametrize(
    ("beside", "outcome"),
    [("client_freeze", PASS), ("freeze", NOT_APPLICABLE), ("undeclared", NOT_APPLICABLE)],
)
def test_frozen_client_is_no_second_fault_of_the_cluster(
    beside: str, outcome: ClaimOutcome
) -> None:
    clients = {"2": {"fault_target_role": "clients"}}
    story = Story(faults=2, windows=clients).window(2, beside, opens=14)
    assert verdict("mirror-takes-over", story).outcome is outcome


def test_fault_that_never_ends_overlaps_every_later_fault() -> None:
    story = Story(faults=2, windows={"2": SYNCHRONISED}).steady().window(1, "kill", lasts=None)
    story.window(2, "kill", opens=40)
    assert verdict("mirror-takes-over", story).outcome is NOT_APPLICABLE


@pytest.mark.parametrize(("due", "outcome"), [(99, INCONCLUSIVE), (100, PASS)])
def test_pass_needs_a_hundred_publishes_due_under_the_fault(
    due: int, outcome: ClaimOutcome
) -> None:
    story = Story().exposed(due=due)
    one = verdict("election-loses-nothing", story)
    assert one.outcome is outcome
    if outcome is INCONCLUSIVE:
        why = "fault 1: only 99 publishes were due while the fault was in force"
        assert one.not_judged == (why,)
        assert one.judged, "what was seen is reported all the same"
    lost = Story().exposed(due=due).count("lost", "replicated", 1)
    assert verdict("election-loses-nothing", lost).outcome is FAIL


@pytest.mark.parametrize(("due", "outcome"), [(99, INCONCLUSIVE), (100, FAIL)])
def test_that_a_warning_did_not_come_true_needs_as_much(due: int, outcome: ClaimOutcome) -> None:
    story = Story(synchronised_mirrors_at_fault=0).exposed(due=due)
    assert verdict("unsynchronised-messages-are-lost", story).outcome is outcome
    story.count("lost", "replicated", 1)
    assert verdict("unsynchronised-messages-are-lost", story).outcome is PASS


def test_window_with_too_little_load_keeps_only_refutations_decided() -> None:
    story = two_kills().exposed(due=10, window=2)
    assert verdict("mirror-takes-over", story).outcome is INCONCLUSIVE
    assert verdict("mirror-takes-over", story.service("out")).outcome is FAIL


def test_promise_and_warning_take_the_result_of_their_worst_window() -> None:
    once = two_kills().service("out", window=2)
    assert judged("available_during_fault == true", once) is FAIL
    assert judged("available_during_fault == false", once, warns="true") is PASS
    never = two_kills()
    assert judged("available_during_fault == false", never, warns="true") is FAIL
    unknown = two_kills().service("open", window=2)
    assert judged("available_during_fault == false", unknown, warns="true") is INCONCLUSIVE


def test_one_window_refutes_all_and_proves_some() -> None:
    once = two_kills().service("out", window=2)
    assert judged("available_during_fault == false", once) is FAIL
    assert judged("available_during_fault == false", once, quantifier='"some"') is PASS
    assert (
        judged("available_during_fault == false", two_kills(), quantifier='"some"') is INCONCLUSIVE
    )


def test_windows_to_which_a_claim_does_not_apply_say_nothing() -> None:
    story = two_kills({**SYNCHRONISED, "fault_target_role": "mirror"}).service("out", window=2)
    assert verdict("mirror-takes-over", story).outcome is PASS
    calm = Story().steady()
    assert verdict("mirror-takes-over", calm).outcome is NOT_APPLICABLE


ROLE = (
    "target of the fault: master; "
    "the claim applies only if this is: mirror (`fault_target_role == mirror`)"
)


def test_the_reason_that_decides_comes_before_those_of_other_faults() -> None:
    text = (
        '[[claim]]\nname = "a"\nsentence = "s"\nsource = "x"\nquantifier = "all"\n'
        'precondition = ["fault_kind == kill", "fault_target_role == mirror", "masters == 2"]\n'
        'predicate = ["lost == 0"]\n'
    )
    (claim,) = read_claims(text, "a test's own")
    story = Story("freeze", masters=1, faults=2, windows={"2": SYNCHRONISED})
    one = judge(claim, story.window(2, "kill", opens=40, lasts=10).evidence)
    assert one.outcome is NOT_APPLICABLE
    assert one.not_judged == (
        "masters that share a queue's messages: 1; "
        "the claim applies only if this is: 2 (`masters == 2`)",
        f"fault 2: {ROLE}",
        "fault 1: kind of fault: freeze; "
        "the claim applies only if this is: kill (`fault_kind == kill`)",
        f"fault 1: {ROLE}",
    )


def test_a_fault_that_affects_no_broker_does_not_decide() -> None:
    text = (
        '[[claim]]\nname = "a"\nsentence = "s"\nsource = "x"\nquantifier = "all"\n'
        'precondition = ["fault_kind == stop"]\npredicate = ["lost == 0"]\n'
    )
    (claim,) = read_claims(text, "a test's own")
    story = Story("client_freeze", faults=2, windows={"2": SYNCHRONISED})
    one = judge(claim, story.window(2, "kill", opens=40, lasts=10).evidence)
    assert one.not_judged == (
        "fault 2: kind of fault: kill; "
        "the claim applies only if this is: stop (`fault_kind == stop`)",
        "fault 1: kind of fault: client_freeze; "
        "the claim applies only if this is: stop (`fault_kind == stop`)",
    )


def test_a_negative_number_of_waiting_messages_reads_as_none() -> None:
    story = rejoined(0, waiting=0).second(6, confirmed=0, delivered=3)
    (reason,) = verdict("rejoined-node-starts-empty", story).not_judged
    found = (
        "none that certainly waited: consumers had received more messages than publishers had "
        "confirms for"
    )
    assert reason == (
        f"fault 1: messages that waited in the queue when the fault began: {found}; the claim "
        "applies only if this is: at least 100 (`waiting_at_fault >= 100`)"
    )


def test_a_story_without_consumers_has_no_times_of_deliveries() -> None:
    text = (
        '[[claim]]\nname = "soon"\nsentence = "Soon."\nsource = "test"\nquantifier = "all"\n'
        'precondition = ["fault_kind == kill"]\npredicate = ["degraded_s <= 0.001"]\n'
    )
    (claim,) = read_claims(text, "a test's own")
    delivery = "first delivery of a new message"
    assert delivery in judge(claim, Story().stage("sustained_success", 3).evidence).story
    alone = Story(consumers=0).stage("sustained_success", 3)
    assert delivery not in judge(claim, alone.evidence).story
