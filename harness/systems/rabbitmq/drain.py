"""PURE: how queues are read empty: RabbitMQ's of any type, and those of the reference."""

from harness.plan.model import Drain

RABBITMQ_DRAIN = Drain(
    queue_name=lambda queue: queue,
    quiet_s=lambda _: 2.0,
    more_s=lambda _: 0.0,
    in_order=lambda _, serving: serving <= 1,  # the drain reads alone, too
    gone_by_force_s=15.0,  # connections are closed on request
)
