"""What a run does with a topic, tried once at each master: `doctor` and `run` report the first
refusal.

1. The topic has a random name that begins with CANARY, and is deleted whatever happens.
2. The steps are those of a run: create, send, read, delete.
"""

import secrets
import time
from collections.abc import Sequence

from harness.plan.layouts.topology import Topology
from harness.systems.foreign import Examined
from harness.systems.rocketmq.api import RocketApi
from harness.systems.rocketmq.core.layout import ServerProcess
from harness.systems.rocketmq.foreign.core.looks import account_remedy, denied
from harness.workers.remoting import client_requests, requests
from harness.workers.remoting.commands import Command
from harness.workers.remoting.requests import RemotingAnswer, Request, TopicQueue

CANARY = "mqproof-canary_"
TRIED = "topics of runs"
_READY = "create, send, read and delete work"
_SENT = (
    RemotingAnswer.SUCCESS,
    RemotingAnswer.FLUSH_DISK_TIMEOUT,
    RemotingAnswer.SLAVE_NOT_AVAILABLE,
    RemotingAnswer.FLUSH_SLAVE_TIMEOUT,
)
_READ = (RemotingAnswer.SUCCESS, RemotingAnswer.PULL_NOT_FOUND)
_WORDS = {
    "create": "create a topic",
    "send": "take a message",
    "read": "give a message",
    "delete": "delete the topic",
}
# By topicPerms and groupPerms an account may send and read without `admin: true`.
_RIGHTS = {
    "create": "`admin: true`",
    "send": "PUB on the topic, or `admin: true`",
    "read": "SUB on the topic and the group, or `admin: true`",
    "delete": "`admin: true`",
}


async def tried(
    topology: Topology,
    api: RocketApi,
    masters: Sequence[ServerProcess],
    name_servers: Sequence[ServerProcess],
) -> Examined:
    """Try it at the masters, one after another. Raise AgentLost."""
    topic = f"{CANARY}{secrets.token_hex(4)}"
    try:
        for master in masters:
            if found := await _refused(topology, api, master, topic):
                return found
    finally:
        for name_server in name_servers:
            await api.ask(name_server, requests.delete_route(topic))
    return Examined(TRIED, _READY, "")


async def _refused(
    topology: Topology, api: RocketApi, master: ServerProcess, topic: str
) -> Examined | None:
    queue = TopicQueue(topic, 0)
    now_ms = time.time_ns() // 1_000_000
    steps: dict[str, tuple[Request, Sequence[RemotingAnswer]]] = {
        "create": (requests.create_topic(topic, 1), (RemotingAnswer.SUCCESS,)),
        "send": (client_requests.send("mqproof-doctor", queue, b"mqproof", {}, now_ms), _SENT),
        "read": (requests.pull(queue, 0), _READ),
        "delete": (requests.delete_topic(topic), (RemotingAnswer.SUCCESS,)),
    }
    is_made = False
    for step, (request, expected) in steps.items():
        answer = await api.ask(master, request)
        if answer is None or answer.header.code not in expected:
            if is_made and step != "delete":
                await api.ask(master, requests.delete_topic(topic))
            return _explained(topology, master, step, answer)
        is_made = True
    return None


def _explained(
    topology: Topology, master: ServerProcess, step: str, answer: Command | None
) -> Examined:
    if answer is None:
        text = f"{master.host} did not answer a request to {_WORDS[step]}"
        return Examined(TRIED, text, "see the rows above")
    if why := denied(answer):
        text = f"{master.host} refuses to {_WORDS[step]}: {why}"
        return Examined(TRIED, text, account_remedy(topology, _RIGHTS[step]), refused=True)
    said = answer.header.remark or f"code {answer.header.code}"
    text = f"{master.host} did not {_WORDS[step]}: {said}"
    return Examined(TRIED, text, "look into the broker's log")
