"""Whether clients, the processes that publish and consume, stand still or run on."""

from collections.abc import Mapping

from faults.model import ProcessState, Proof, Reply
from faults.verify.replies import SILENCE_S, doubt, is_answered, is_silent, listing, proven

States = Mapping[str, ProcessState]
Replies = Mapping[str, Reply]


def freeze_held(states: States, answers: Replies) -> Proof:
    """`answers`: to a ping over the control channel, of those that stand still."""
    dead = sorted(client for client, state in states.items() if not state.running)
    if dead or not states:
        return doubt(f"{', '.join(dead)} does not run" if dead else "no client is meant")
    moving = sorted(client for client, state in states.items() if not state.frozen)
    if moving:
        return doubt(f"{', '.join(moving)} is not frozen")
    loud = [client for client in sorted(states) if not is_silent(answers.get(client))]
    if loud:
        return doubt(f"frozen, but not silent: {listing(answers, loud)}")
    return proven(f"{', '.join(sorted(states))} frozen, silent for {SILENCE_S:g} s")


def freeze_gone(states: States, answers: Replies) -> Proof:
    """What its connections have become meanwhile is not asked: that is what was to be seen."""
    dead = sorted(client for client, state in states.items() if not state.running)
    if dead or not states:
        return doubt(f"{', '.join(dead)} does not run" if dead else "no client is meant")
    frozen = sorted(client for client, state in states.items() if state.frozen)
    if frozen:
        return doubt(f"{', '.join(frozen)} is still frozen")
    mute = [client for client in sorted(states) if not is_answered(answers.get(client))]
    if mute:
        return doubt(f"runs on, but: {listing(answers, mute)}")
    return proven(f"{', '.join(sorted(states))} run on and answer")
