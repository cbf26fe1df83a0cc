"""Masters and mirrors that fail, links, and ways in."""

from tests.harness.claims.claim_stories import (
    ALONE,
    ALWAYS,
    AWAY,
    BALANCED,
    EMPTY,
    NO_ACK,
    PAIR,
    Three,
    alarmed,
    attached,
    caught_up,
    linked,
    lost,
    not_redelivered,
    out,
    rejoined,
    requeued,
    second_death,
    stopped_unsynchronised,
    story_of,
    unconfirmed,
    unpromised_order,
)
from tests.harness.claims.judging import INCONCLUSIVE, NOT_APPLICABLE

STORIES: dict[str, Three] = {
    "mirror-takes-over": Three(
        story_of,
        out,
        lambda: out("stop", **EMPTY),
        (NOT_APPLICABLE, "synchronised_mirrors_at_fault >= 1"),
    ),
    "fails-over-down-to-the-last": Three(
        second_death,
        lambda: second_death().service("out", ended="undo"),
        lambda: second_death(partition_handling="pause_minority").service("out", ended="undo"),
        (NOT_APPLICABLE, "partition_handling == ignore | autoheal"),
    ),
    "oldest-mirror-takes-over": Three(
        story_of,
        lambda: story_of(promoted_mirror_rank=2),
        lambda: story_of(promoted_mirror_rank=2, synchronised_mirrors_at_fault=1),
        (NOT_APPLICABLE, "every_mirror_synchronised == true"),
    ),
    "election-loses-nothing": Three(
        story_of,
        lost,
        lambda: lost(**EMPTY),
        (NOT_APPLICABLE, "synchronised_mirrors_at_fault >= 1"),
    ),
    "mirrored-queue-works-on": Three(
        story_of,
        lambda: story_of().consumption(False),
        lambda: out(mirrors_at_fault=0),
        (NOT_APPLICABLE, "mirrors_at_fault >= 1"),
    ),
    "duplicates-are-requeued": Three(
        requeued,
        not_redelivered,
        lambda: story_of(**EMPTY).count("not_redelivered", "", 1),
        (NOT_APPLICABLE, "synchronised_mirrors_at_fault >= 1"),
    ),
    "masters-clients-are-cut-off": Three(
        story_of,
        lambda: story_of(clients_of_target_cut_off=False),
        lambda: story_of(
            clients_of_target_cut_off={"not_applicable": "no client was connected to it"}
        ),
        (NOT_APPLICABLE, "no client was connected to it"),
    ),
    "unnotified-consumer-waits-forever": Three(
        lambda: story_of().silent_consumer(),
        story_of,
        lambda: story_of(consumers_connected_to_target=True).silent_consumer(),
        (NOT_APPLICABLE, "consumers_connected_to_target == false"),
    ),
    "notified-consumer-is-cancelled": Three(
        lambda: attached(2, 2),
        lambda: attached(2, 1),  # one of them waits for ever
        lambda: story_of(consumers_attached=2, consumers_cancelled=0),
        (NOT_APPLICABLE, "cancel_on_ha_failover == true"),
    ),
    "unsynchronised-messages-are-lost": Three(
        lambda: lost(**EMPTY),
        lambda: story_of(**EMPTY),
        lambda: lost(),
        (NOT_APPLICABLE, "synchronised_mirrors_at_fault == 0"),
    ),
    "crash-promotes-any-mirror": Three(
        lambda: story_of(**EMPTY),
        lambda: out(**EMPTY),
        lambda: out("stop", **EMPTY),
        (NOT_APPLICABLE, "fault_kind == kill"),
    ),
    "stop-promotes-no-empty-mirror": Three(
        lambda: stopped_unsynchronised().service("out", ended="undo"),
        stopped_unsynchronised,
        lambda: stopped_unsynchronised(promote_on_shutdown="always"),
        (NOT_APPLICABLE, "promote_on_shutdown == when-synced"),
    ),
    "stop-always-promotes": Three(
        lambda: story_of("stop", **ALWAYS),
        lambda: out("stop", **ALWAYS),
        lambda: out("kill", **ALWAYS, promote_on_failure="when-synced"),
        (NOT_APPLICABLE, "promote_on_failure == always"),
    ),
    "always-promoting-loses": Three(
        lambda: lost(kind="stop", **ALWAYS),
        lambda: story_of("stop", **ALWAYS),
        lambda: story_of("stop", **EMPTY),
        (NOT_APPLICABLE, "promote_on_shutdown == always"),
    ),
    "mirror-failure-affects-own-clients": Three(
        lambda: story_of(**AWAY).missed(0),
        lambda: story_of(**AWAY).missed(1),
        lambda: story_of(**{**AWAY, "publishers_connected_to_target": True}).missed(1),
        (NOT_APPLICABLE, "publishers_connected_to_target == false"),
    ),
    "silent-mirror-is-noticed-late": Three(
        lambda: story_of("freeze", **AWAY).silence(1.0),
        lambda: story_of("freeze", **AWAY).silence(0.999),
        lambda: story_of("freeze", **AWAY, confirm_waits_for_mirrors=False),
        (NOT_APPLICABLE, "confirm_waits_for_mirrors == true"),
    ),
    "unmirrored-queue-is-down": Three(
        lambda: out(**ALONE),
        lambda: story_of(**ALONE),
        story_of,
        (NOT_APPLICABLE, "mirrors_at_fault == 0"),
    ),
    "durable-queue-returns": Three(
        lambda: out(**ALONE),
        lambda: out(promise="healed", **ALONE),
        lambda: out(promise="healed", durable=False, **ALONE),
        (NOT_APPLICABLE, "durable == true"),
    ),
    "transient-queue-is-gone": Three(
        lambda: out(promise="healed", durable=False, **ALONE),
        lambda: out(durable=False, **ALONE),
        lambda: out(promise="healed", **ALONE),
        (NOT_APPLICABLE, "durable == false"),
    ),
    "unconfirmed-survive-an-election": Three(
        unconfirmed,
        lambda: unconfirmed(19),
        lambda: unconfirmed(19, **EMPTY),
        (NOT_APPLICABLE, "synchronised_mirrors_at_fault >= 1"),
    ),
    "no-ack-loses": Three(
        lambda: lost(**NO_ACK).steady(),
        lambda: story_of(**NO_ACK, consumers_connected_to_target=True),
        lost,
        (NOT_APPLICABLE, "no_ack == true"),
    ),
    "floating-address-moves": Three(
        lambda: story_of(**PAIR),
        lambda: out(**PAIR),
        lambda: out(**{**PAIR, "client_endpoint": "haproxy"}),
        (NOT_APPLICABLE, "client_endpoint == haproxy-pair"),
    ),
    "balancer-avoids-dead-nodes": Three(
        lambda: story_of(**BALANCED),
        lambda: out(**BALANCED),
        lambda: out("stop", **BALANCED, **EMPTY),  # it waits for its master, as configured
        (NOT_APPLICABLE, "synchronised_mirrors_at_fault >= 1"),
    ),
    "host-list-fails-over": Three(
        story_of,  # served while their first host was dead
        lambda: out(publishers_of_target_moved=False),
        lambda: out(client_endpoint="one"),
        (NOT_APPLICABLE, "client_endpoint == hosts"),
    ),
    "rejoined-node-starts-empty": Three(
        lambda: rejoined(200),
        lambda: rejoined(2_000),
        lambda: rejoined(201),  # a part of what it held, or what is new
        (INCONCLUSIVE, "new ones, or some of the 2,000 that waited before the fault"),
    ),
    "mirror-catches-up-by-itself": Three(
        caught_up,
        lambda: caught_up(False),
        lambda: caught_up(False, left_to_drain=3),  # the old messages are still there
        (NOT_APPLICABLE, "left_to_drain == 0"),
    ),
    "memory-alarm-blocks-publishers": Three(
        alarmed,
        lambda: alarmed(1),
        lambda: alarmed(1, fault_resource="disk"),
        (NOT_APPLICABLE, "fault_resource == memory"),
    ),
    "any-node-reaches-any-queue": Three(
        linked,
        lambda: linked().service("out", scope="publisher", name="1"),
        lambda: linked(moved=False).service("out", ended="undo"),  # it noticed nothing
        (NOT_APPLICABLE, "clients_reached_another == true"),
    ),
    "queue-is-first-in-first-out": Three(
        story_of,
        lambda: story_of().count("reordered", "", 1),
        unpromised_order,
        (NOT_APPLICABLE, "order is not promised"),
    ),
}
