"""Whether clients' links hang, and flow again."""

from collections.abc import Mapping

from faults.model import Proof, Reply
from faults.verify.replies import (
    DIRECT,
    SILENCE_S,
    doubt,
    is_answered,
    is_silent,
    listing,
    proven,
    said,
)


def hang_held(replies: Mapping[str, Reply], proxies: tuple[str, ...]) -> Proof:
    """Each proxy's canary was silent while the direct one was answered."""
    assert proxies, "a hang without links"
    direct = replies.get(DIRECT)
    if direct is None or not direct.answered:
        return doubt(f"the host was not heard on a direct connection, either: {said(direct)}")
    loud = [name for name in proxies if not is_silent(replies.get(name))]
    if loud:
        return doubt(f"not silent: {listing(replies, loud)}")
    return proven(
        f"{len(proxies)} links silent for {SILENCE_S:g} s, "
        f"while a direct request took {direct.seconds:.3f} s"
    )


def hang_gone(
    fresh: Mapping[str, Reply], held: Mapping[str, Reply], proxies: tuple[str, ...]
) -> Proof:
    """Each proxy answers on a fresh connection, and no held canary stays silent.

    A held canary that was closed meanwhile says nothing: something else may have closed it.
    """
    mute = [name for name in proxies if not is_answered(fresh.get(name))]
    if mute:
        return doubt(f"no answer on a fresh connection: {listing(fresh, mute)}")
    stuck = [name for name in proxies if is_silent(held.get(name))]
    if stuck:
        return doubt(f"still silent on a held connection: {listing(held, stuck)}")
    released = sum(1 for name in proxies if is_answered(held.get(name)))
    return proven(f"{len(proxies)} links answer on fresh connections, {released} on held ones")
