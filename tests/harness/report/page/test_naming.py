"""Columns are called by what tells them apart."""

import pytest

from harness.report.page.places import names

RABBIT = "RabbitMQ 3.10 with classic mirrored queues"
PAIRS = "RocketMQ, two masters with a slave each"
GROUPS = "RocketMQ 4.9 with DLedger: groups of three that elect their leader"
IMITATION = "Reference brokers (Python) for CTGMQ: name servers replace a master by its slave"
SLAVE = "Two hosts with a master each; a confirm waits for a slave"
ALONE = "Two hosts with a master each; a confirm waits for its master alone"
MIRRORS = "Three nodes, a copy of every queue on every node"

CASES = {
    "the client": (
        {("r", "all", "pika"): (RABBIT, MIRRORS), ("r", "all", "bunny"): (RABBIT, MIRRORS)},
        ["pika", "bunny"],
    ),
    "the layout": (
        {("q", "sync", "java"): (PAIRS, SLAVE), ("q", "async", "java"): (PAIRS, ALONE)},
        ["a confirm waits for a slave", "a confirm waits for its master alone"],
    ),
    "the timer of a layout": (
        {
            ("r", "all@T=10", "pika"): (RABBIT, MIRRORS),
            ("r", "all@T=60", "pika"): (RABBIT, MIRRORS),
        },
        ["T=10", "T=60"],
    ),
    "the system, and with it all else": (
        {("r", "all", "pika"): (RABBIT, MIRRORS), ("q", "sync", "java"): (PAIRS, SLAVE)},
        ["RabbitMQ 3.10", "RocketMQ"],
    ),
    "the architecture of one product": (
        {
            ("p", "sync", "java"): (PAIRS, SLAVE),
            ("d", "three", "java"): (GROUPS, MIRRORS),
            ("c", "three", "java"): (IMITATION, MIRRORS),
        },
        [
            "RocketMQ, two masters with a slave each",
            "RocketMQ with DLedger",
            "Reference brokers (Python) for CTGMQ",
        ],
    ),
    "the system, and the layout of one": (
        {
            ("r", "all", "pika"): (RABBIT, MIRRORS),
            ("q", "sync", "java"): (PAIRS, SLAVE),
            ("q", "async", "java"): (PAIRS, ALONE),
        },
        [
            "RabbitMQ 3.10",
            "RocketMQ: a confirm waits for a slave",
            "RocketMQ: a confirm waits for its master alone",
        ],
    ),
    "a clause that only one has: their own words, without the timers that both have": (
        {
            ("r", "all@T=10", "pika"): (RABBIT, MIRRORS),
            ("r", "all-one@T=10", "pika"): (RABBIT, f"{MIRRORS}; a client knows one of them"),
        },
        ["all", "all-one"],
    ),
    "their own words, and timers": (
        {
            ("r", "all@T=10", "pika"): (RABBIT, MIRRORS),
            ("r", "all-one@T=60", "pika"): (RABBIT, f"{MIRRORS}; a client knows one of them"),
        },
        ["all@T=10", "all-one@T=60"],
    ),
    "nothing: it stands alone": ({("r", "all", "pika"): (RABBIT, MIRRORS)}, ["RabbitMQ 3.10"]),
    "words that are the same": (
        {("r", "one", "pika"): (RABBIT, MIRRORS), ("r", "two", "pika"): (RABBIT, MIRRORS)},
        ["one", "two"],
    ),
}


@pytest.mark.parametrize("differs", CASES)
def test_columns_are_named_by_their_difference(differs: str) -> None:
    titles, expected = CASES[differs]
    assert list(names(list(titles), titles).values()) == expected
