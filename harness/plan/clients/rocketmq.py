"""The clients of RocketMQ's remoting protocol.

A native client of another build finds out at its start, by what its library exports.
"""

from collections.abc import Mapping

from harness.plan.clients import amqp_section
from harness.plan.clients.declaration import CAN, Client, Family, Finds, Look
from harness.plan.clients.rocketmq_section import SECTION
from harness.plan.layouts.jars import JarSet

ROCKETMQ = Family(
    name="RocketMQ remoting",
    section=SECTION,
    finds=Finds.NAME_SERVERS,
    confirms_routed=lambda _workload: True,
    # Its own section has no word for it: scenarios say it below [workload.amqp], for both.
    unconfirmed_max=lambda workload: amqp_section.SECTION.of(workload).confirm_window,
    auditor="harness.workers.rocketmq.audit:LogAuditor",
    prober="harness.workers.rocketmq.prober:Prober",
    not_accepted={
        "RemotingConnectException": "could not connect, so nothing was sent",
        "ROLLBACK_MESSAGE": "rolled back",
        # The library's own spelling.
        "UNKNOW": "left open by its producer, to be rolled back",
    },
    unanswered={
        "ClosedChannelException": "connection lost while sending",
        "RemotingSendRequestException": "connection lost while sending",
        "RemotingTimeoutException": "no answer in time",
    },
    foreign_keys={amqp_section.SECTION.place: "confirm_window"},
)
# It may have begun a send to a dead master just before it learns of one that is back: that waits
# out the library's time limit.
SEND_LIMIT_S = 3
_RECORD_MAX = 4_194_304  # maxMessageSize, of brokers and of Java's clients
_DRAINS_FOR_OTHERS = "rocketmq-java-4.9.8"  # where a client cannot tell what its group has left
_NAMES = "without containers also `apt-get install libnss-wrapper`"
_FAILS_OVER = "the library connects again by itself, and reports what becomes of each send"
_JAVA: Mapping[str, bool | str] = {
    "confirm": CAN,
    "sync": CAN,
    "async": CAN,
    "oneway": CAN,
    "ordered": CAN,
    "transaction": CAN,
    "delayed": CAN,
    "concurrent": CAN,
    "orderly": CAN,
    "pull": CAN,
    "acknowledge": CAN,
    "remaining": CAN,
    "place": CAN,
    "one attempt": CAN,
    "proof": CAN,
    "attached": CAN,
    "attach": CAN,
    "latency fault": CAN,
    "close socket": CAN,
    "settings": CAN,
    "lost": _FAILS_OVER,
    "acknowledge nothing": (
        "a log keeps what it has; a group's offset moves only by what was consumed"
    ),
    "slow consumers": CAN,
    "long processing": (
        "after 15 minutes a concurrent consumer sends a message back, and gets it again "
        "(consumeTimeout)"
    ),
    "tls": "mqproof does not set it up",
    "virtual host": "RocketMQ has none",
    "unlimited prefetch": "only AMQP has a prefetch count",
    "transient": "every message goes into the broker's log",
    "priorities": "a topic's messages have none",
    "channel transaction": "only AMQP has channels",
    "consumer groups": CAN,
    "several queues": "mqproof gives each of its processes one topic",
}
_OF_ALL = (
    "acknowledge nothing",
    "slow consumers",
    "tls",
    "virtual host",
    "unlimited prefetch",
    "transient",
    "priorities",
    "channel transaction",
    "consumer groups",
    "several queues",
)


# It keeps a connection whose answer is overdue, and can only be told so from 4.9.1 on
# (docs/behaviour/rocketmq.md 1).
_JAVA_490 = {
    **_JAVA,
    "close socket": "4.9.0 always keeps such a connection; it has no setting for this",
}


def _java(version: str) -> Client:
    name = f"rocketmq-java-{version}"
    return Client(
        name=name,
        title=f"Apache RocketMQ's Java client {version}, unmodified, through JPype",
        family=ROCKETMQ,
        constructor="harness.workers.clients.rocketmq.java:JavaClient",
        answers=_JAVA_490 if version == "4.9.0" else _JAVA,
        body_max=_RECORD_MAX,
        body_why="maxMessageSize, of the library and of brokers",
        own_threads=True,
        reconnect_s=SEND_LIMIT_S,
        drained_by=name,
        packages=(("jpype1", "1.7.1"),),
        jars=JarSet(
            name=name,
            artifacts=(f"org.apache.rocketmq:rocketmq-client:{version}",),
            lock=f"rocketmq-java/locks/{name}.sha256",
            classes="rocketmq-java/mqproof",
        ),
        look=None,
        how_to_get=(
            "Java 17, Maven, `pip install 'mqproof[rocketmq-java]'`, "
            f"`python -m harness.deploy.jars {name}`"
        ),
    )


def _own(version: str) -> Client:
    """What it cannot, it was not made for: it is there so that nothing else has to be."""
    return Client(
        name=f"rocketmq-python-{version}",
        title=f"mqproof's own small client; if a server hangs, it behaves like Java's {version}",
        family=ROCKETMQ,
        constructor="harness.workers.clients.rocketmq.own.client:OwnClient",
        answers={
            "confirm": CAN,
            "sync": CAN,
            "async": CAN,
            "oneway": CAN,
            "ordered": CAN,
            "transaction": CAN,
            "delayed": CAN,
            "concurrent": CAN,
            "orderly": CAN,
            "pull": "it has one kind of consumer: the group assigns its queues",
            "acknowledge": CAN,
            "remaining": CAN,
            "place": CAN,
            "one attempt": CAN,
            "proof": CAN,
            "attached": CAN,
            "attach": CAN,
            "latency fault": "it avoids no broker",
            "close socket": f"it does what {version} does by default",
            "settings": CAN,  # pollNameServerInterval: of any other one it says so at its start
            "lost": _FAILS_OVER,
            "long processing": CAN,
            **{capability: _JAVA[capability] for capability in _OF_ALL},
        },
        body_max=_RECORD_MAX,
        body_why="maxMessageSize, of brokers",
        own_threads=False,
        reconnect_s=SEND_LIMIT_S,
        drained_by=f"rocketmq-python-{version}",
        packages=(),
        jars=None,
        look=None,
        how_to_get="it comes with mqproof",
    )


NATIVE = Client(
    name="rocketmq-native",
    title="the C++ client that the Python package `rocketmq` 0.4.4 brings, through ctypes",
    family=ROCKETMQ,
    constructor="harness.workers.clients.rocketmq.native:NativeClient",
    answers={
        "confirm": CAN,
        "sync": CAN,
        "async": CAN,
        "oneway": CAN,
        "ordered": CAN,
        "transaction": "not used: the library of 0.4.4 exports no CreateTransactionProducer",
        "delayed": CAN,
        "concurrent": CAN,
        "orderly": CAN,
        "pull": "its pull consumer mixes up two brokers' queues of the same number",
        "acknowledge": CAN,
        "remaining": "its C interface asks no broker for offsets",
        "place": "its library does not export GetMessageBrokerName",
        "one attempt": "its C interface can neither set nor report the attempts of sync sends",
        "proof": "a failure is a text without a code, and an inner attempt may have been stored",
        "attached": CAN,  # by its process's connections: native_attached.py
        "attach": CAN,  # it is first in its list
        "latency fault": "its C interface has no such setting",
        "close socket": "the library always closes such a connection; it has no setting for this",
        "settings": (
            "it reads no system properties, and its C interface sets time-outs and sizes only"
        ),
        "lost": _FAILS_OVER,
        "long processing": "what its library does with a message after 15 minutes is unknown",
        **{capability: _JAVA[capability] for capability in _OF_ALL},
    },
    body_max=_RECORD_MAX - 65_536,
    body_why="a broker counts topic and properties, too, and bodies are sent undeflated",
    own_threads=True,
    reconnect_s=SEND_LIMIT_S,
    drained_by=_DRAINS_FOR_OTHERS,
    packages=(("rocketmq", "0.4.4"),),
    jars=None,
    look=Look("RocketMQ native client", "harness.workers.clients.rocketmq.native_found"),
    how_to_get=f"`pip install 'mqproof[rocketmq-native]'`, on x86_64; {_NAMES}",
)
# The package that Apache publishes for Python. It brings no library: ours is that of `rocketmq`
# 0.4.4 and a shim (compose/worker-rocketmq/client-python), in a folder of its own.
CLIENT_PYTHON = Client(
    name="rocketmq-python-2.0.0",
    title=(
        "the Python package `rocketmq-client-python` 2.0.0, unmodified, over the C++ library of "
        "`rocketmq` 0.4.4"
    ),
    family=ROCKETMQ,
    constructor="harness.workers.clients.rocketmq.client_python:PythonClient",
    answers={
        **NATIVE.answers,
        "async": "its Producer has no send_async",
        "one attempt": (
            "the library sends again after 3 s, so a message may be stored twice: a slave is "
            "silent for up to 5 s on a new connection, and its master confirms nothing until then"
        ),
        "transaction": "the library of 0.4.4 exports no SendMessageTransaction",
        "pull": "it has no pull consumer",
    },
    body_max=NATIVE.body_max,
    body_why=NATIVE.body_why,
    own_threads=True,
    reconnect_s=SEND_LIMIT_S,
    drained_by=_DRAINS_FOR_OTHERS,
    packages=(),
    jars=None,
    look=Look("rocketmq-client-python", "harness.workers.clients.rocketmq.client_python"),
    how_to_get=(
        f"`python -m harness.systems.rocketmq.client_python`, on x86_64, with gcc; {_NAMES}"
    ),
)
_VERSIONS = ("4.9.0", "4.9.8", "5.2.0", "5.3.3")
CLIENTS = (*map(_java, _VERSIONS), NATIVE, CLIENT_PYTHON, *map(_own, _VERSIONS))
