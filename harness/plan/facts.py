"""A fact that claims may speak of; and those that the plan declares, or that operators cause."""

from dataclasses import dataclass

from harness.plan.layouts.guarantees import BROKERS, CLIENTS
from harness.plan.layouts.layout_values import BALANCERS, HOSTS, NO_HANDLING, ONE
from harness.plan.workload import Retry

_PAUSING = ("pause_minority", "pause_if_all_down")
_PROMOTION = ("always", "when-synced", "never")
_STOPPED = ("first stopped", "last stopped")


@dataclass(frozen=True, slots=True)
class Fact:
    """`label`: what evidence calls it. `more`: what it means, if the label does not say it all.
    `words`: every value that it can have; empty if these are not known."""

    kind: type  # bool, str or float
    of_window: bool
    label: str
    more: str = ""
    words: tuple[str, ...] = ()

    @property
    def meaning(self) -> str:
        return self.more or self.label


DECLARED: dict[str, Fact] = {
    "copies": Fact(
        float, False, "copies of a queue in this layout", "copies of a queue that the layout wants"
    ),
    "masters": Fact(
        float,
        False,
        "masters that share a queue's messages",
        "masters among which the messages of a queue are spread",
    ),
    "synchronise": Fact(
        str,
        False,
        "synchronisation of new mirrors",
        "automatic, manual or none",
        ("automatic", "manual", "none"),
    ),
    "partition_handling": Fact(
        str,
        False,
        "partition handling",
        "what the layout does about partitions",
        (*_PAUSING, "ignore", "autoheal", NO_HANDLING),
    ),
    "mirrored_on": Fact(
        str,
        False,
        "policy of mirrors",
        "hosts that mirror a queue, by policy: all, exactly, nodes, none",
        ("all", "exactly", "nodes", "none"),
    ),
    "client_endpoint": Fact(
        str,
        False,
        "where clients connect",
        "where clients connect: hosts, one, haproxy, haproxy-pair, balancer",
        (HOSTS, ONE, *BALANCERS),
    ),
    "promote_on_shutdown": Fact(
        str,
        False,
        "promotion of an unsynchronised mirror after a stop",
        "whether a stop may promote a mirror that lacks messages: when-synced, always, never",
        _PROMOTION,
    ),
    "promote_on_failure": Fact(
        str,
        False,
        "promotion of an unsynchronised mirror after a crash",
        "whether a crash may promote a mirror that lacks messages: always, when-synced, never",
        _PROMOTION,
    ),
    "elects": Fact(
        bool,
        False,
        "a mirror can become master by itself",
        "if the master fails, a mirror can become master by itself",
    ),
    "elects_by_majority": Fact(
        bool,
        False,
        "a majority of replicas elects the master",
        "a majority of all replicas of a queue decides which one is its master",
    ),
    "detection_timeout_s": Fact(
        float, False, "detection timeout T (in s)", "the layout's detection timeout T, in seconds"
    ),
    "route_poll_s": Fact(
        float,
        False,
        "time between two queries of a client to a name server (in s)",
        "how often clients ask name servers for the masters, in seconds",
    ),
    "confirms": Fact(bool, False, "publishers ask for confirms"),
    "confirm_waits_for_mirrors": Fact(
        bool, False, "a confirm waits until every available mirror has the message"
    ),
    "confirm_waits_for_majority": Fact(
        bool, False, "a confirm waits until a majority of all replicas has the message"
    ),
    "confirm_waits_for_disk": Fact(bool, False, "a confirm waits until the message is on disk"),
    "progress_kept_by": Fact(
        str,
        False,
        "a consumer's progress is kept by",
        "who keeps a consumer's progress: brokers, or clients that read a log",
        (BROKERS, CLIENTS),
    ),
    "durable": Fact(bool, False, "queues are durable", "queues survive their host's restart"),
    "persistent": Fact(
        bool, False, "messages are persistent", "messages survive their host's restart"
    ),
    "mandatory": Fact(bool, False, "unroutable messages are returned"),
    "retry": Fact(str, False, "never or until_confirmed", words=tuple(Retry)),
    "consumers": Fact(
        float, False, "consumers", "number of consumers; with 0 only the drain reads the queues"
    ),
    "acknowledges": Fact(
        bool,
        False,
        "consumers acknowledge deliveries",
        "there are consumers, and they acknowledge deliveries",
    ),
    "no_ack": Fact(
        bool,
        False,
        "consumers acknowledge nothing",
        "there are consumers, and they acknowledge nothing",
    ),
    "processing_s": Fact(
        float,
        False,
        "how long a consumer takes for each message before it acknowledges it, in seconds",
    ),
    "cancel_on_ha_failover": Fact(
        bool,
        False,
        "consumers ask for a notice of a new master",
        "consumers request a notice of a new master",
    ),
    "priorities": Fact(float, False, "levels of priority; 0: messages have no priorities"),
    "polls": Fact(bool, False, "consumers ask for each message (`basic.get`)"),
    "reconnect_s": Fact(
        float, False, "the longest time that a client may need to reconnect, in seconds"
    ),
    "messages": Fact(float, False, "messages that the scenario sends, if few are planned"),
    "delayed_messages": Fact(float, False, "delayed messages, if few are planned"),
    "messages_in_transactions": Fact(float, False, "messages in transactions, if few are planned"),
    "messages_to_commit": Fact(float, False, "messages to be committed, if few are planned"),
    "messages_to_check": Fact(
        float, False, "messages to commit when the broker checks, if few are planned"
    ),
    "checks_within_s": Fact(
        float, False, "within what time a broker checks an open transaction, in seconds"
    ),
    "faults": Fact(float, False, "faults in the scenario", "fault windows of the schedule"),
    "operations": Fact(float, False, "operations in the scenario", "operations of the schedule"),
}
OPERATED: dict[str, Fact] = {
    "all_stopped": Fact(
        str,
        False,
        "how all hosts were stopped",
        "how operations stopped every host: in turn, at once, none",
        ("in turn", "at once", "none"),
    ),
    "started_first": Fact(
        str,
        False,
        "the host that was started first was the",
        "which stopped host was started first: first stopped, last stopped, other, none",
        (*_STOPPED, "other", "none"),
    ),
    "started_within_s": Fact(
        float,
        False,
        "time from the first start of a stopped host to the last one",
        "time from the first start of a stopped host to the last one, in seconds",
    ),
    "waited_for_last_s": Fact(
        float,
        False,
        "time until the host that was stopped last was started",
        "how long the host that was started first ran until the host that was stopped last was "
        "started, in seconds",
    ),
    "gave_up_waiting": Fact(
        bool,
        False,
        "the host that was started first ended by itself while it waited",
        "the host that was started first had ended by itself by then",
    ),
    "lost_disk": Fact(
        str,
        False,
        "host whose disk was lost",
        "whose disk was lost: first stopped, last stopped, other, all, none",
        (*_STOPPED, "other", "all", "none"),
    ),
    "node_removed": Fact(
        str,
        False,
        "how a node was removed",
        "how a node was removed from the cluster: online, offline, none",
        ("online", "offline", "none"),
    ),
    "stood_still_synchronising": Fact(
        bool,
        False,
        "a queue stood still while it synchronised",
        "during synchronisation a queue neither took nor delivered a message",
    ),
    "nodes_added": Fact(
        float, False, "nodes that joined the cluster", "spare nodes that joined the cluster"
    ),
    "queues_have_masters": Fact(
        bool,
        False,
        "each queue had a master after all operations",
        "after all operations each queue had a master",
    ),
    "mirrors_after_operations": Fact(
        float, False, "the smallest number of mirrors of a queue after all operations"
    ),
}
