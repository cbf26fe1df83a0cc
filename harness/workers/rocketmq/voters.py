"""Who is asked who leads, as a prober is told of them, and what each is asked.

A member of a DLedger group is asked two questions in a look, whom it follows and its term; of a
controller that leads the SyncStateSets are asked, too.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from faults.places import place
from harness.workers.protocol import VOTERS, Endpoint
from harness.workers.remoting import answers, requests
from harness.workers.remoting.commands import Command
from harness.workers.remoting.leaders import (
    BY_CONTROLLERS,
    BY_MEMBERS,
    Says,
    said_by_controller,
    said_by_member,
)
from harness.workers.remoting.requests import Request

Ask = Callable[[Request], Awaitable[Command]]


@dataclass(frozen=True, slots=True)
class Voter:
    """`endpoint.host` is its place; the rest is that of harness/plan/servers.py."""

    endpoint: Endpoint
    asked: str
    groups: tuple[str, ...]
    id: str
    peer: str


def voters(own: Mapping[str, Any]) -> tuple[Voter, ...]:
    """Of a prober's `own`."""
    return tuple(_voter(one) for one in own.get(VOTERS, ()))


async def say(voter: Voter, ask: Ask) -> Says:
    """What a voter says now. Raises Unanswered, Refused, WireError."""
    return await _QUESTIONS[voter.asked](voter, ask)


async def _of_member(voter: Voter, ask: Ask) -> Says:
    (group,) = voter.groups
    leader = requests.dledger_leader(group, voter.id)
    follows = answers.dledger_leader(leader, await ask(leader))
    term = requests.dledger_term(group, voter.id, voter.peer)
    return said_by_member(group, follows, answers.dledger_term(term, await ask(term)))


async def _of_controller(voter: Voter, ask: Ask) -> Says:
    request = requests.controllers()
    said = answers.controllers(request, await ask(request))
    if not said.leads:
        return said_by_controller(said, {})
    states = requests.sync_states(voter.groups)
    return said_by_controller(said, answers.sync_states(states, await ask(states)))


_QUESTIONS: Mapping[str, Callable[[Voter, Ask], Awaitable[Says]]] = {
    BY_MEMBERS: _of_member,
    BY_CONTROLLERS: _of_controller,
}


def _voter(told: Mapping[str, Any]) -> Voter:
    where = Endpoint(place(told["host"], told["word"]), told["address"], told["port"])
    groups = tuple(told["groups"])
    return Voter(where, told["asked"], groups, told["id"], told["peer"])
