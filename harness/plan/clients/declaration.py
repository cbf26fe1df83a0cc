"""Declarations of client libraries and of their families: data alone, no library is imported.

1. A capability is something that a workload may require, or that a claim needs to be judged.
2. No trait has a default: a declaration has each of them. A capability that it does not mention
   is one that the client lacks.
3. Constructors are text, `module:object`, that only a worker imports.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from harness.outside.text import brief
from harness.plan import brought_facts
from harness.plan.clients.section import COUNTED, Section
from harness.plan.facts import DECLARED, Fact
from harness.plan.files.tables import Table
from harness.plan.layouts import jars
from harness.plan.layouts.jars import JarSet
from harness.plan.problems import nearest
from harness.plan.workload import Workload

CAPABILITIES: Mapping[str, str] = {
    "confirm": "the outcome of a send is reported",
    "sync": "a call waits for its answer",
    "async": "a callback receives the answer",
    "oneway": "fire and forget",
    "ordered": "all messages of a key go to one queue, one send after the other",
    "transaction": "half message, commit or rollback, and the broker's check",
    "delayed": "delivered when a level's time has passed",
    "concurrent": "push consumer, messages in parallel",
    "orderly": "push consumer, a queue's messages one after the other",
    "pull": "the application polls: `basic.get`; lite pull, where the client assigns queues",
    "acknowledge": "manual acknowledgement, sent after the delivery is recorded",
    "remaining": "it reports the consumer lag of its group, which the drain needs",
    "place": "it reports which broker a delivery came from",
    "one attempt": "the library's own retries are off: one send is one attempt",
    "proof": "a failed send says by code whether it may have happened",
    "attached": "it reports which name server it uses",
    "attach": "it can start with a chosen name server",
    "latency fault": "with this setting it avoids a failed or slow broker for a while",
    "close socket": "it has a setting to close a connection whose answer is overdue",
    "settings": "timers and flags of the library, by system property or setter",
    "lost": "it reports when a connection ends",
    "acknowledge nothing": (
        "automatic acknowledgement (`no_ack`): the broker deletes a message when it sends it"
    ),
    "slow consumers": "late acknowledgements slow a consumer down, as `processing` needs it",
    "long processing": "a message may stay unacknowledged for 15 minutes or longer",
    "tls": "encrypted connections, with the server's certificate checked",
    "virtual host": "it can connect to another virtual host than `/`",
    "unlimited prefetch": "consumers without a prefetch count",
    "transient": "queues and messages that need not outlive their broker",
    "priorities": "each message has a priority, by its key",
    "channel transaction": "publishes are confirmed by `tx.commit`, several at a time",
    "consumer groups": "several groups of consumers each get every message",
    "several queues": "one publisher sends to several queues, and one process consumes several",
}
CAN = True
UNDECLARED = "its declaration does not say that it can"
_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,62}")
_KEY = re.compile(r"[a-z][a-z0-9_-]{0,30}")
_CONSTRUCTOR = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


class Finds(StrEnum):
    """How its clients come to the broker that has their queue."""

    HOSTS = "hosts"  # it gets a list of hosts, dials one, and tries the others (dialling.py)
    NAME_SERVERS = "name servers"  # these tell it where brokers are; it enters nowhere


@dataclass(frozen=True, slots=True)
class Family:
    """What the clients of one protocol have in common."""

    name: str
    section: Section[Any, Any] | None  # the part of `[workload]` that is its own
    finds: Finds
    confirms_routed: Callable[[Workload], bool]  # what is confirmed went to a queue
    unconfirmed_max: Callable[[Workload], int]  # sends of a publisher that may be out
    auditor: str  # 'module:object': reads one broker's log; "" where what it holds is consumed
    prober: str  # 'module:object': asks name servers what they show; "" where there are none
    # What a client reports of an attempt that no broker refused, though it certainly was not
    # accepted, and what that means, for people. Of several the first that is found counts.
    not_accepted: Mapping[str, str]
    # The same of an attempt without an answer: it may have been accepted.
    unanswered: Mapping[str, str]
    # By the place of another family's section: the key of it that counts for these clients, too.
    foreign_keys: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Look:
    """What says whether this machine has a library that has to be loaded to know.

    `module` is run in a process of its own. Its last line is JSON: `package`, name and version;
    `library`, the file; `features`, a list of words; `refused`, "" or why it cannot be used, and
    behind a semicolon what would help.
    """

    title: str
    module: str


@dataclass(frozen=True, slots=True)
class Client:
    """One client library, `name` as an experiment names it."""

    name: str
    title: str
    family: Family
    constructor: str  # 'module:object': called with a WorkerConfig it makes a clients.port.Client
    answers: Mapping[str, bool | str]  # to each of CAPABILITIES: CAN, or why it cannot
    body_max: int | None  # bytes; None: no bound
    body_why: str  # the bound's reason
    own_threads: bool  # the library works in threads of its own
    # The longest reconnect in seconds, once it knows a broker that answers. None: unknown, and no
    # claim uses it.
    reconnect_s: int | None
    drained_by: str  # the client that reads empty what this one's consumers left; mostly itself
    packages: tuple[tuple[str, str], ...]  # of Python, that it may be in, and the version tried
    jars: JarSet | None  # that it is in, and that bear its name; None: it is not Java's
    look: Look | None  # by which doctor finds it on this machine; None: nothing is to be found
    how_to_get: str

    def why_not(self, capability: str) -> str:
        """Why it cannot do this; "" where it can."""
        assert capability in CAPABILITIES, capability
        answer = self.answers.get(capability, UNDECLARED)
        return "" if answer is CAN else str(answer or UNDECLARED)


def mistakes(client: Client) -> Iterator[str]:
    """Yield the mistakes in a declaration, of mqproof or of another package."""
    if not isinstance(client.family, Family):
        yield f"its family is no Family, but {brief(repr(client.family))}"
        return
    if not _NAME.fullmatch(client.name):
        yield f"{brief(client.name)} is no name: small letters, digits, hyphens and points"
    yield from _section_mistakes(client.family.section)
    programs = {
        "constructor": client.constructor,
        "auditor": client.family.auditor,
        "prober": client.family.prober,
    }
    for what, text in programs.items():
        if (text or what == "constructor") and not _CONSTRUCTOR.fullmatch(text):
            yield f"its {what} is no `module:object`: {brief(text)}"
    for capability, answer in client.answers.items():
        if answer is not CAN and not (isinstance(answer, str) and answer):
            yield f"{brief(capability)} is answered by neither CAN nor a reason"
    yield from _about_getting(client)
    if client.family.finds is Finds.NAME_SERVERS and not client.family.prober:
        yield "it asks name servers, and has no prober who asks them, too"


def _about_getting(client: Client) -> Iterator[str]:
    if not isinstance(client.jars, JarSet | None):
        yield f"its jars are no JarSet, but {brief(repr(client.jars))}"
    elif client.jars is not None:
        yield from (f"its jars: {wrong}" for wrong in jars.mistakes(client.jars))
        if client.jars.name != client.name:
            yield f"its jars bear another name, {brief(client.jars.name)}"
    if not isinstance(client.look, Look | None):
        yield f"what looks for it is no Look, but {brief(repr(client.look))}"
    elif client.look is not None and not _MODULE.fullmatch(client.look.module):
        yield f"what looks for it is no module: {brief(client.look.module)}"


def _section_mistakes(section: Section[Any, Any] | None) -> Iterator[str]:
    if section is None:
        return
    if not isinstance(section, Section):
        yield f"its section is neither None nor a Section, but {brief(repr(section))}"
    elif not _KEY.fullmatch(section.key):
        yield f"{brief(section.key)} is no section's key: small letters, digits, hyphens"
    elif not (isinstance(section.shape, type) and issubclass(section.shape, Table)):
        yield f"the shape of [{section.place}] is no harness.plan.files.tables.Table"
    elif needed := [key for key, one in section.shape.model_fields.items() if one.is_required()]:
        keys = ", ".join(needed)
        yield f"[{section.place}] may be left out, and these of its keys have no default: {keys}"
    elif strange := [key for key in section.by_client if key not in section.shape.model_fields]:
        yield f"[{section.place}] has no such keys to pass to a client: {', '.join(strange)}"
    else:
        yield from _fact_mistakes(section)


def _fact_mistakes(section: Section[Any, Any]) -> Iterator[str]:
    """Yield the facts that are given no declaration, or no value."""
    yield from brought_facts.mistakes(section.own_facts)
    if not isinstance(section.own_facts, Mapping) or not isinstance(section.facts, Mapping):
        yield f"the facts of [{section.place}] are no mapping of names"
        return
    if not isinstance(section.counted, tuple):
        yield f"[{section.place}], counted: {brief(section.counted)} is no tuple of names"
        return
    own = section.own_facts
    fields: tuple[tuple[str, Collection[str], Collection[str]], ...] = (
        ("facts", section.facts, DECLARED),
        ("counted", section.counted, COUNTED),
    )
    for field, names, ours in fields:
        for name in names:
            if name not in own and name not in ours:
                guess = nearest(str(name), (*own, *ours))
                hint = f"; did you mean {brief(guess)}?" if guess else ""
                text = f"[{section.place}], {field}: there is no fact {brief(str(name))}{hint}"
                yield f"{text}; declare it in own_facts"
    for name in own:
        if name not in section.own_names:
            yield f"[{section.place}] declares the fact {brief(str(name))} and gives it no value"
    counted = [own[name] for name in section.counted if name in own]
    if not all(isinstance(fact, Fact) and fact.kind is float for fact in counted):
        yield f"[{section.place}] counts facts that are no numbers: set their kind to float"
    if own and not section.not_applicable:
        yield f"[{section.place}] does not say why its facts do not apply to other clients"
