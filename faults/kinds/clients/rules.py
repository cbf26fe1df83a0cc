"""Verify that clients (publishers and consumers) died, are frozen or run on."""

from collections.abc import Collection, Mapping, Sequence

from faults.core.model import ProcessState, Proof, Reply, Successor
from faults.core.replies import SILENCE_S, doubt, is_answered, is_silent, listing, proven
from faults.kinds.processes.rules import KILLED

States = Mapping[str, ProcessState]
Replies = Mapping[str, Reply]


def crash_held(states: States, connected: Collection[str]) -> Proof:
    """`connected`: those that the brokers still list a connection of."""
    alive = sorted(client for client, state in states.items() if state.running)
    if alive or not states:
        return doubt(f"{', '.join(alive)} still runs" if alive else "no client is meant")
    others = {c: s.exit_code for c, s in sorted(states.items()) if s.exit_code != KILLED}
    if others:
        endings = ", ".join(f"{client} ended with {code}" for client, code in others.items())
        return doubt(f"{endings}, not by SIGKILL ({KILLED})")
    if connected:
        return doubt(f"the broker still lists a connection of {', '.join(sorted(connected))}")
    return proven(f"{', '.join(sorted(states))} ended with {KILLED}, their connections are gone")


def crash_gone(successors: Mapping[str, Successor | None]) -> Proof:
    """Each has a successor that is connected, by the broker's word, and at work, by its own."""
    for client, successor in sorted(successors.items()):
        if successor is None:
            return doubt(f"no client has taken the place of {client}")
        if not successor.name:
            return proven("the load is over: no successor is needed")
        if not successor.connected:
            return doubt(f"the broker lists no connection of {successor.name}")
        if not successor.at_work:
            return doubt(f"{successor.name} is connected, and not at work")
    names = ", ".join(f"{one.name} for {who}" for who, one in sorted(successors.items()) if one)
    return proven(f"connected and at work: {names}") if names else doubt("no client is meant")


def freeze_held(states: States, answers: Replies) -> Proof:
    """`answers`: to a ping over the control channel, of those that stand still."""
    dead = sorted(client for client, state in states.items() if not state.running)
    if dead or not states:
        return doubt(f"{_names(dead, 'does', 'do')} not run" if dead else "no client is meant")
    moving = sorted(client for client, state in states.items() if not state.frozen)
    if moving:
        return doubt(f"{_names(moving, 'is', 'are')} not frozen")
    loud = [client for client in sorted(states) if not is_silent(answers.get(client))]
    if loud:
        return doubt(f"frozen, but not silent: {listing(answers, loud)}")
    return proven(f"{', '.join(sorted(states))} frozen, silent for {SILENCE_S:g} s")


def freeze_gone(states: States, answers: Replies) -> Proof:
    """The state of its connections is not checked: that is what the fault was to show."""
    dead = sorted(client for client, state in states.items() if not state.running)
    if dead or not states:
        return doubt(f"{_names(dead, 'does', 'do')} not run" if dead else "no client is meant")
    frozen = sorted(client for client, state in states.items() if state.frozen)
    if frozen:
        return doubt(f"{_names(frozen, 'is', 'are')} still frozen")
    mute = [client for client in sorted(states) if not is_answered(answers.get(client))]
    if mute:
        return doubt(f"runs on, but: {listing(answers, mute)}")
    clients = sorted(states)
    answer = "answers" if len(clients) == 1 else "answer"
    return proven(f"{_names(clients, 'runs', 'run')} again and {answer}")


def _names(clients: Sequence[str], one: str, several: str) -> str:
    """Return `consumer-1 runs`, `consumer-1, consumer-2 run`."""
    return f"{', '.join(clients)} {one if len(clients) == 1 else several}"
