"""The voters that a prober asks for leaders, and the requests to each.

A look at a member of a DLedger group has two requests: its leader and its term. A leading
controller is also asked for the SyncStateSets.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from faults.core.places import place
from harness.workers.protocol import VOTERS, Endpoint
from harness.workers.remoting import answers, requests
from harness.workers.remoting.commands import Command
from harness.workers.remoting.leaders import (
    BY_CONTROLLERS,
    BY_MEMBERS,
    Says,
    controller_says,
    member_says,
)
from harness.workers.remoting.requests import Request

Ask = Callable[[Request], Awaitable[Command]]


@dataclass(frozen=True, slots=True)
class Voter:
    """`endpoint.host` is its place; the rest is that of harness/plan/layouts/servers.py."""

    endpoint: Endpoint
    query: str
    groups: tuple[str, ...]
    id: str
    peer: str


def voters(own: Mapping[str, Any]) -> tuple[Voter, ...]:
    """Of a prober's `own`."""
    return tuple(_voter(one) for one in own.get(VOTERS, ()))


async def say(voter: Voter, ask: Ask) -> Says:
    """What a voter says now. Raises Unanswered, Refused, WireError."""
    return await _QUESTIONS[voter.query](voter, ask)


async def _of_member(voter: Voter, ask: Ask) -> Says:
    (group,) = voter.groups
    leader = requests.dledger_leader(group, voter.id)
    follows = answers.dledger_leader(leader, await ask(leader))
    term = requests.dledger_term(group, voter.id, voter.peer)
    return member_says(group, follows, answers.dledger_term(term, await ask(term)))


async def _of_controller(voter: Voter, ask: Ask) -> Says:
    request = requests.controllers()
    state = answers.controllers(request, await ask(request))
    if not state.leads:
        return controller_says(state, {})
    states = requests.sync_states(voter.groups)
    return controller_says(state, answers.sync_states(states, await ask(states)))


_QUESTIONS: Mapping[str, Callable[[Voter, Ask], Awaitable[Says]]] = {
    BY_MEMBERS: _of_member,
    BY_CONTROLLERS: _of_controller,
}


def _voter(table: Mapping[str, Any]) -> Voter:
    where = Endpoint(place(table["host"], table["word"]), table["address"], table["port"])
    groups = tuple(table["groups"])
    return Voter(where, table["query"], groups, table["id"], table["peer"])
