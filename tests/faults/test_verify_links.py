"""What proves what was done to a client's link, what does not, and the near misses."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from faults.core.model import FIN, REFUSED, RST, Proof, Reply
from faults.core.replies import SILENCE_S
from faults.kinds.client_links.flow import Slowness, cut_after_held, slow_gone, slow_held
from faults.kinds.client_links.rules import (
    answering,
    close_held,
    hang_gone,
    hang_held,
    refuse_held,
    reset_held,
)

ANSWERED = Reply(True, 0.002, "answered")
SILENT = Reply(False, SILENCE_S + 0.1, "silent for 2.1 s")
CLOSED = Reply(False, 0.01, "closed", FIN)
RESET = Reply(False, 0.01, "reset", RST)
NOT_TAKEN = Reply(False, 0.01, "refused", REFUSED)
LINKS = ("a", "b")
Replies = dict[str, Reply]
Rule = Callable[[Replies, Replies, tuple[str, ...]], Proof]


def every(reply: Reply, **others: Reply) -> Replies:
    """The same on both links, and an answer on the direct way."""
    return {"a": reply, "b": reply, "direct": ANSWERED, **others}


# --- hang ---------------------------------------------------------------------------------------


def test_a_hang_needs_silent_links_and_a_live_host() -> None:
    """Require silence in both directions of each link, while the host itself was heard."""
    assert hang_held({"up": every(SILENT), "down": every(SILENT)}, LINKS).ok


def test_held_requests_are_distinguished_from_held_answers() -> None:
    requests = {"up": every(SILENT), "down": every(ANSWERED)}
    answers = {"up": every(ANSWERED), "down": every(SILENT)}
    proof = hang_held(requests, LINKS, "to_broker")
    assert proof.detail.startswith("2 links silent for 2 s to the broker, flowing to the client")
    assert hang_held(answers, LINKS, "to_client").ok
    assert "to the broker, not silent" in hang_held(answers, LINKS, "to_broker").doubt
    assert "to the broker, does not flow" in hang_held(requests, LINKS, "to_client").doubt


def test_a_one_way_hang_and_a_full_hang_are_distinguished() -> None:
    half = {"up": every(SILENT), "down": every(ANSWERED)}
    whole = {"up": every(SILENT), "down": every(SILENT)}
    assert "to the client, not silent" in hang_held(half, LINKS, "both").doubt
    assert "to the client, does not flow" in hang_held(whole, LINKS, "to_broker").doubt
    assert "to the broker, does not flow" in hang_held(whole, LINKS, "to_client").doubt


@pytest.mark.parametrize(
    ("replies", "doubt"),
    [
        (every(ANSWERED), "not silent: a: answered"),
        (every(SILENT, b=ANSWERED), "not silent: b: answered"),
        (every(SILENT, b=CLOSED), "not silent: b: closed"),
        (every(SILENT, b=replace(SILENT, end=FIN)), "not silent: b"),  # closed in the end
        ({"a": SILENT, "direct": ANSWERED}, "not silent: b: not queried"),
        (every(SILENT, direct=SILENT), "the host was not heard"),
        ({"a": SILENT, "b": SILENT}, "the host was not heard"),
    ],
)
def test_a_hang_did_not_hold_otherwise(replies: Replies, doubt: str) -> None:
    assert doubt in hang_held({"up": every(SILENT), "down": replies}, LINKS).doubt
    assert doubt in hang_held({"up": replies, "down": every(SILENT)}, LINKS).doubt


def test_a_hang_is_gone_if_fresh_and_held_connections_answer() -> None:
    proof = hang_gone(every(ANSWERED), every(ANSWERED), LINKS)
    assert proof.ok
    assert proof.detail == (
        "2 links answered on a fresh connection and on the probe's connection from before the "
        "fault"
    )


def test_a_held_connection_that_was_closed_meanwhile_says_nothing() -> None:
    proof = hang_gone(every(ANSWERED), every(ANSWERED, a=CLOSED), LINKS)
    assert proof.ok
    assert "1 of them also on the probe's connection from before the fault" in proof.detail


@pytest.mark.parametrize(
    ("fresh", "held"),
    [
        (every(ANSWERED, b=SILENT), every(ANSWERED)),
        (every(ANSWERED), every(ANSWERED, b=SILENT)),
        ({"a": ANSWERED}, every(ANSWERED)),
    ],
)
def test_a_hang_is_not_gone_while_a_link_is_silent(fresh: Replies, held: Replies) -> None:
    assert not hang_gone(fresh, held, LINKS).ok


# --- close, refuse, reset -----------------------------------------------------------------------

ENDS: dict[Rule, Reply] = {close_held: ANSWERED, refuse_held: NOT_TAKEN, reset_held: RESET}


@pytest.mark.parametrize("rule", ENDS)
def test_new_connections_distinguish_closed_links(rule: Rule) -> None:
    for met in (ANSWERED, NOT_TAKEN, RESET, CLOSED, SILENT):
        proof = rule(every(CLOSED), every(met), LINKS)
        assert proof.ok == (ENDS[rule] is met), (met, proof)


@pytest.mark.parametrize("rule", ENDS)
@pytest.mark.parametrize(
    ("canaries", "doubt"),
    [
        (every(CLOSED, b=ANSWERED), "not closed by FIN: b: answered"),
        (every(CLOSED, b=SILENT), "not closed by FIN: b: silent"),
        (every(CLOSED, b=RESET), "not closed by FIN: b: reset"),
        (every(CLOSED, direct=CLOSED), "the host was not heard"),  # it was the host that ended
        ({"a": CLOSED, "direct": ANSWERED}, "not closed by FIN: b: not queried"),
    ],
)
def test_links_that_stand_or_ended_otherwise_were_not_closed(
    rule: Rule, canaries: Replies, doubt: str
) -> None:
    attempts = every(ENDS[rule])
    assert doubt in rule(canaries, attempts, LINKS).doubt


@pytest.mark.parametrize("rule", ENDS)
def test_one_link_that_new_connections_take_otherwise_is_a_doubt(rule: Rule) -> None:
    attempts = every(ENDS[rule], b=CLOSED)
    assert "b: closed" in rule(every(CLOSED), attempts, LINKS).doubt


@pytest.mark.parametrize("rule", ENDS)
def test_a_host_that_refuses_even_direct_connections_proves_nothing(rule: Rule) -> None:
    attempts = every(ENDS[rule], direct=NOT_TAKEN)
    doubt = rule(every(CLOSED), attempts, LINKS).doubt
    assert "the host was not heard" in doubt


def test_a_closing_fault_ended_when_each_link_answers_afresh() -> None:
    assert answering(every(ANSWERED), LINKS).ok
    assert "b: refused" in answering(every(ANSWERED, b=NOT_TAKEN), LINKS).doubt


# --- slow ---------------------------------------------------------------------------------------

LATE = Slowness.of(0.5, 0)
PACED = Slowness.of(0.0, 100)


def took(seconds: float) -> Reply:
    return Reply(True, seconds, "answered")


def slow(up: Replies, down: Replies, slowness: Slowness = LATE) -> str:
    return slow_held({"up": up, "down": down}, LINKS, slowness).doubt


def test_the_least_delay_of_a_word_follows_latency_and_rate() -> None:
    both = Slowness.of(0.5, 100)
    assert (LATE.octets, LATE.least_s) == (0, 0.499)
    assert (PACED.octets, PACED.least_s) == (25_000, pytest.approx(0.224))
    assert (both.octets, both.least_s) == (25_000, pytest.approx(0.724))


def test_a_small_latency_is_timed_several_times() -> None:
    assert Slowness.of(0.01, 0).rounds > LATE.rounds == 1


def test_a_link_is_slow_if_words_are_late_both_ways() -> None:
    assert slow(every(took(0.501)), every(took(0.51))) == ""
    assert slow(every(took(0.26)), every(took(0.3)), PACED) == ""


@pytest.mark.parametrize(
    ("down", "doubt"),
    [
        (every(ANSWERED), "down, not a word that took 0.499 s: a: answered"),
        (every(took(0.6), b=took(0.498)), "down, not a word that took 0.499 s: b"),
        (every(took(0.6), b=SILENT), "b: silent"),
        (every(took(0.6), b=CLOSED), "b: closed"),
        (every(took(0.6), direct=took(0.3)), "the direct way is slow or silent, too"),
        (every(took(0.6), direct=SILENT), "the direct way is slow or silent, too"),
        ({"a": took(0.6), "direct": ANSWERED}, "b: not queried"),
    ],
)
def test_a_link_is_not_slow_otherwise(down: Replies, doubt: str) -> None:
    assert doubt in slow(every(took(0.6)), down)
    assert doubt.removeprefix("down, ") in slow(down, every(took(0.6)))


def test_slowness_ended_if_fresh_and_held_connections_are_quick() -> None:
    assert slow_gone(every(ANSWERED), every(ANSWERED), LINKS, LATE).ok
    closed = slow_gone(every(ANSWERED), every(ANSWERED, a=CLOSED), LINKS, LATE)
    assert closed.detail.endswith("1 of them also on the probe's connection from before the fault")


@pytest.mark.parametrize("late", [took(0.3), took(0.6), SILENT])
def test_a_link_is_still_slow_while_a_connection_is(late: Reply) -> None:
    assert "fresh" in slow_gone(every(ANSWERED, b=late), every(ANSWERED), LINKS, LATE).doubt
    assert "held" in slow_gone(every(ANSWERED), every(ANSWERED, b=late), LINKS, LATE).doubt


# --- cut_after ----------------------------------------------------------------------------------


def cut(octets: int, end: str = FIN) -> Reply:
    return Reply(False, 0.01, "closed", end, octets)


def test_a_link_was_cut_by_its_bytes_and_a_fin() -> None:
    assert cut_after_held(every(cut(4000)), LINKS, 4000).ok


@pytest.mark.parametrize(
    ("replies", "doubt"),
    [
        (every(ANSWERED), "a: answered after 0 bytes"),
        (every(cut(4000), b=cut(3999)), "b: closed after 3999 bytes"),  # something else did
        (every(cut(4000), b=cut(4001)), "b: closed after 4001 bytes"),
        (every(cut(4000), b=cut(4000, RST)), "b: closed after 4000 bytes"),
        (every(cut(4000), b=SILENT), "b: silent"),
        (every(cut(4000), direct=CLOSED), "not heard on a direct connection"),
        ({"a": cut(4000), "direct": ANSWERED}, "b: not queried"),
    ],
)
def test_a_link_was_not_cut_after_so_many_bytes_otherwise(replies: Replies, doubt: str) -> None:
    assert doubt in cut_after_held(replies, LINKS, 4000).doubt
