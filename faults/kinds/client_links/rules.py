"""Verify that clients' links hang, are closed, refused or reset, and work again.

1. An observation of a link proves nothing if the host behind it does not answer a direct
   connection at the same time.
2. A hang is verified by words in each direction, so that a half-open link is not taken for a
   closed one, nor for the other half: the direction that is meant to flow has to be seen to flow.
3. A connection's end is what a socket of ours saw: FIN, RST, or a refusal.
"""

from collections.abc import Callable, Mapping

from faults.core.model import DOWN, FIN, REFUSED, RST, UP, Proof, Reply
from faults.core.replies import (
    DIRECT,
    SILENCE_S,
    doubt,
    is_answered,
    is_silent,
    listing,
    proven,
    said,
)

Met = Mapping[str, Reply]  # proxy name, or DIRECT -> what was met on that way
HELD = {"both": (UP, DOWN), "to_broker": (UP,), "to_client": (DOWN,)}
_DIRECTIONS = {UP: "to the broker", DOWN: "to the client"}


def hang_held(
    heard: Mapping[str, Met], proxies: tuple[str, ...], direction: str = "both"
) -> Proof:
    """`heard`: words by UP and by DOWN. Those that are meant to be held were silent, the others
    were heard, and so was the direct canary."""
    assert proxies, "a hang without links"
    held = HELD[direction]
    for way, replies in heard.items():
        if not is_answered(replies.get(DIRECT)):
            return _not_heard(replies)
        wanted, not_so = (
            (is_silent, "not silent") if way in held else (is_answered, "does not flow")
        )
        if wrong := _all_but(wanted, replies, proxies):
            return doubt(f"{_DIRECTIONS[way]}, {not_so}: {listing(replies, wrong)}")
    flowing = [_DIRECTIONS[way] for way in heard if way not in held]
    silent = " and ".join(_DIRECTIONS[way] for way in held)
    took_ms = heard[UP][DIRECT].seconds * 1000
    return proven(
        f"{links(proxies)} silent for {SILENCE_S:g} s {silent}, "
        f"{''.join(f'flowing {way}, ' for way in flowing)}"
        f"while a probe on a direct connection was answered in "
        f"{f'{took_ms:.0f} ms' if took_ms >= 1 else 'under 1 ms'}"
    )


def close_held(canaries: Met, attempts: Met, proxies: tuple[str, ...]) -> Proof:
    """Every canary was closed by FIN, and new connections are answered."""
    return _ended(canaries, proxies) or _attempts(
        attempts, proxies, is_answered, "not answered", "new ones are answered"
    )


def refuse_held(canaries: Met, attempts: Met, proxies: tuple[str, ...]) -> Proof:
    """Every canary was closed by FIN, and new connections are refused."""
    return _ended(canaries, proxies) or _attempts(
        attempts, proxies, _met(REFUSED), "not refused", "new ones are refused"
    )


def reset_held(canaries: Met, attempts: Met, proxies: tuple[str, ...]) -> Proof:
    """Every canary was closed by FIN, and new connections end by RST."""
    return _ended(canaries, proxies) or _attempts(
        attempts, proxies, _met(RST), "not reset", "new ones are reset"
    )


def answering(fresh: Met, proxies: tuple[str, ...]) -> Proof:
    """The end of whatever ended links: each proxy answers on a fresh connection."""
    if mute := _all_but(is_answered, fresh, proxies):
        return doubt(f"no answer on a fresh connection: {listing(fresh, mute)}")
    return proven(f"{links(proxies)} answered on a fresh connection")


def hang_gone(fresh: Met, held: Met, proxies: tuple[str, ...]) -> Proof:
    """Each proxy answers on a fresh connection, and no held canary stays silent.

    A held canary that was closed meanwhile says nothing: something else may have closed it.
    """
    proof = answering(fresh, proxies)
    if not proof.ok:
        return proof
    stuck = [name for name in proxies if is_silent(held.get(name))]
    if stuck:
        return doubt(f"still silent on a held connection: {listing(held, stuck)}")
    released = sum(1 for name in proxies if is_answered(held.get(name)))
    return proven(f"{proof.detail}{also_before(released, len(proxies))}")


def links(proxies: tuple[str, ...]) -> str:
    """Return `1 link`, `3 links`."""
    return f"{len(proxies)} link{'' if len(proxies) == 1 else 's'}"


def also_before(number: int, of: int) -> str:
    """Return how many links were seen to work on the probe's old connections, too."""
    old = "on the probe's connection from before the fault"
    return f" and {old}" if number == of else f", {number} of them also {old}"


def _ended(canaries: Met, proxies: tuple[str, ...]) -> Proof | None:
    """Return why the held connections are not seen to have been closed; None if they are."""
    assert proxies, "nothing to close"
    if not is_answered(canaries.get(DIRECT)):
        return _not_heard(canaries)
    if wrong := _all_but(_met(FIN), canaries, proxies):
        return doubt(f"not closed by FIN: {listing(canaries, wrong)}")
    return None


def _attempts(
    attempts: Met, proxies: tuple[str, ...], met: Callable[[Reply | None], bool], no: str, yes: str
) -> Proof:
    if not is_answered(attempts.get(DIRECT)):
        return _not_heard(attempts)
    if wrong := _all_but(met, attempts, proxies):
        return doubt(f"{no} on a new connection: {listing(attempts, wrong)}")
    return proven(f"{links(proxies)} closed by FIN, {yes}; the host answers on direct connections")


def _not_heard(replies: Met) -> Proof:
    direct = said(replies.get(DIRECT))
    return doubt(f"the host was not heard on a direct connection, either: {direct}")


def _met(end: str) -> Callable[[Reply | None], bool]:
    return lambda reply: reply is not None and not reply.answered and reply.end == end


def _all_but(
    wanted: Callable[[Reply | None], bool], replies: Met, proxies: tuple[str, ...]
) -> list[str]:
    return [name for name in proxies if not wanted(replies.get(name))]
