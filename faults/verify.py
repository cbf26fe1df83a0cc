"""Rules: what evidence proves that a fault held, or is gone. Evidence in, Proof out.

1. Pure: looking, waiting and asking again are verification.py's.
2. Only positive evidence proves. What was not seen, or has another explanation, is a doubt.
3. Silence is not closure: a canary or an attempt is silent only if it waited SILENCE_S in vain.
   A refusal, a reset or a close comes at once, and is evidence of another fault than ours.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from faults.model import ProcessState, Proof, Reply

SILENCE_S = 2.0  # witnesses wait longer than this before they give up
KILLED = 137  # 128 + SIGKILL
ENDED = (0, 143)  # by itself when it was told to, or by the SIGTERM (128 + 15) itself
DIRECT = "direct"


@dataclass(frozen=True, slots=True)
class CutEvidence:
    """What was seen around one round of connection attempts across a cut."""

    before: int | None  # packets that our chain had dropped; None: no such chain
    after: int | None
    attempts: Mapping[str, Reply]  # peer -> an attempt from inside the cut host
    alive: Mapping[str, Reply]  # peer -> an attempt on the same port from an uncut place


@dataclass(frozen=True, slots=True)
class LinkEvidence:
    """What was seen around one round of new connections through links that a cut stalls."""

    links: Mapping[tuple[str, str], Reply]  # (from, to) -> what came through the link
    direct: Mapping[str, Reply]  # host -> what it said past every proxy


def silent(reply: Reply) -> bool:
    return not reply.answered and reply.seconds >= SILENCE_S


def kill_held(state: ProcessState) -> Proof:
    if state.running:
        return _doubt("the process still runs")
    if state.exit_code != KILLED:
        return _doubt(f"the process ended with {state.exit_code}, not by SIGKILL ({KILLED})")
    return _proven(f"the process ended with {KILLED}")


def stop_held(state: ProcessState) -> Proof:
    """A broker that had to be killed, or that failed while it ended, was not stopped."""
    if state.running:
        return _doubt("the process has not ended")
    if state.exit_code not in ENDED:
        return _doubt(f"the process ended with {state.exit_code}, not as SIGTERM asks ({ENDED})")
    return _proven(f"the process ended with {state.exit_code}")


def freeze_held(state: ProcessState, greets: Reply | None) -> Proof:
    """`greets` is None where the process is not frozen: its answer would say nothing."""
    if not state.running:
        return _doubt(f"the process does not run (exit {state.exit_code})")
    if not state.frozen or greets is None:
        return _doubt("the process is not frozen")
    if not silent(greets):
        return _doubt(f"the process is frozen, but its port is not silent: {greets.detail}")
    return _proven(f"the process is frozen, its port silent for {SILENCE_S:g} s")


def freeze_gone(state: ProcessState, greets: Reply | None) -> Proof:
    """Its peers may have given it up meanwhile: whether they list it again is not asked."""
    if not state.running:
        return _doubt(f"the process does not run (exit {state.exit_code})")
    if state.frozen or greets is None:
        return _doubt("the process is still frozen")
    if not greets.answered:
        return _doubt(f"the process runs on, but: {greets.detail}")
    return _proven(f"the process runs on and answers: {greets.detail}")


def kill_gone(state: ProcessState, serves: Reply | None) -> Proof:
    """Of a stop, too. `serves` is None where the process does not run: there is nobody to ask."""
    if not state.running or serves is None:
        return _doubt(f"the process does not run (exit {state.exit_code})")
    if not serves.answered:
        return _doubt(f"the process runs, but: {serves.detail}")
    return _proven(f"the process runs, answers and is listed: {serves.detail}")


def hang_held(replies: Mapping[str, Reply], proxies: tuple[str, ...]) -> Proof:
    """Each proxy's canary was silent while the direct one was answered."""
    assert proxies, "a hang without links"
    direct = replies.get(DIRECT)
    if direct is None or not direct.answered:
        return _doubt(f"the host was not heard on a direct connection, either: {_said(direct)}")
    loud = [name for name in proxies if not _is_silent(replies.get(name))]
    if loud:
        return _doubt(f"not silent: {_listing(replies, loud)}")
    return _proven(
        f"{len(proxies)} links silent for {SILENCE_S:g} s, "
        f"while a direct request took {direct.seconds:.3f} s"
    )


def hang_gone(
    fresh: Mapping[str, Reply], held: Mapping[str, Reply], proxies: tuple[str, ...]
) -> Proof:
    """Each proxy answers on a fresh connection, and no held canary stays silent.

    A held canary that was closed meanwhile says nothing: something else may have closed it.
    """
    mute = [name for name in proxies if not _is_answered(fresh.get(name))]
    if mute:
        return _doubt(f"no answer on a fresh connection: {_listing(fresh, mute)}")
    stuck = [name for name in proxies if _is_silent(held.get(name))]
    if stuck:
        return _doubt(f"still silent on a held connection: {_listing(held, stuck)}")
    released = sum(1 for name in proxies if _is_answered(held.get(name)))
    return _proven(f"{len(proxies)} links answer on fresh connections, {released} on held ones")


def partition_held(evidence: CutEvidence | LinkEvidence) -> Proof:
    """By a packet filter, or by the stall of every link between the two sides."""
    if isinstance(evidence, LinkEvidence):
        return _links_cut(evidence)
    return _filter_cut(evidence)


def _filter_cut(evidence: CutEvidence) -> Proof:
    """Attempts across the cut were silent, our chain dropped them, and somebody listens there.

    A peer that is down, an address that is wrong or an interface that is gone would not raise
    our chain's counter by our own attempts, and would not listen to others at the same time.
    """
    assert evidence.attempts, "a partition without peers"
    if evidence.before is None or evidence.after is None:
        return _doubt("there is no chain of ours")
    loud = [peer for peer, reply in evidence.attempts.items() if not silent(reply)]
    if loud:
        return _doubt(f"not silent: {_listing(evidence.attempts, loud)}")
    dropped = evidence.after - evidence.before
    if dropped < len(evidence.attempts):
        return _doubt(
            f"our chain dropped {dropped} packets during {len(evidence.attempts)} attempts"
        )
    listening = [peer for peer in evidence.attempts if _is_answered(evidence.alive.get(peer))]
    if not listening:
        return _doubt(f"nobody listens beyond the cut: {_listing(evidence.alive)}")
    return _proven(
        f"{len(evidence.attempts)} attempts silent for {SILENCE_S:g} s, {dropped} packets "
        f"dropped by our chain; {', '.join(listening)} listened to others"
    )


def _links_cut(evidence: LinkEvidence) -> Proof:
    """Every link to a host that speaks was silent, and so each side was silent to the other.

    What is down, or cannot be reached past the proxies either, proves nothing by its silence.
    """
    assert evidence.links, "a partition without peers"
    speaking = [host for host, reply in evidence.direct.items() if reply.answered]
    judged = {way: reply for way, reply in evidence.links.items() if way[1] in speaking}
    if not judged:
        return _doubt(f"nobody listens beyond the cut: {_listing(evidence.direct)}")
    loud = [way for way, reply in judged.items() if not silent(reply)]
    if loud:
        told = "; ".join(f"{' -> '.join(way)}: {judged[way].detail}" for way in loud)
        return _doubt(f"not silent: {told}")
    return _proven(
        f"{len(judged)} links silent for {SILENCE_S:g} s, while {', '.join(sorted(speaking))} "
        "spoke at once past the proxy"
    )


def partition_gone(packets: int | None, attempts: Mapping[str, Reply]) -> Proof:
    """No chain, an attempt succeeds and none is silent. A refusal crossed the wire, too."""
    if packets is not None:
        return _doubt(f"our chain is still there ({packets} packets dropped)")
    mute = [peer for peer, reply in attempts.items() if silent(reply)]
    if mute:
        return _doubt(f"silent: {_listing(attempts, mute)}")
    reached = [peer for peer, reply in attempts.items() if reply.answered]
    if not reached:
        return _doubt(f"no attempt succeeds: {_listing(attempts)}")
    return _proven(f"nothing of ours is in the way; reached: {', '.join(reached)}")


def _is_silent(reply: Reply | None) -> bool:
    return reply is not None and silent(reply)


def _is_answered(reply: Reply | None) -> bool:
    return reply is not None and reply.answered


def _said(reply: Reply | None) -> str:
    return "not asked" if reply is None else reply.detail


def _listing(replies: Mapping[str, Reply], names: list[str] | None = None) -> str:
    chosen = sorted(replies) if names is None else names
    return "; ".join(f"{name}: {_said(replies.get(name))}" for name in chosen) or "nobody asked"


def _proven(detail: str) -> Proof:
    return Proof(ok=True, detail=detail)


def _doubt(doubt: str) -> Proof:
    return Proof(ok=False, detail="", doubt=doubt)
