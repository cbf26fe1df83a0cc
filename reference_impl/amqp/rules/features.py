"""The one list of features of AMQP 0-9-1 and RabbitMQ's extensions, present and absent.

1. The handshake announces the features of this list that are present (handshake.py), and no other.
2. A client that uses an absent feature gets an error; the reference never ignores it. This list
   makes docs/reference.md: `python -m reference_impl.amqp.rules.features` prints it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

AUTHENTICATION_FAILURE_CLOSE = "authentication_failure_close"


@dataclass(frozen=True, slots=True)
class Feature:
    """One feature. `announced`: the capability that tells clients of it. `refused`: the answer to
    a client that uses it, if the reference does not have it."""

    name: str
    announced: str = ""
    refused: str = ""

    @property
    def there(self) -> bool:
        return not self.refused


FEATURES = (
    Feature("publisher confirms", "publisher_confirms"),
    Feature("transactions: tx.select, tx.commit, tx.rollback"),
    Feature("basic.nack", "basic.nack"),
    Feature("exchanges: direct, fanout, topic, headers; amq.*"),
    Feature("bindings between exchanges", "exchange_exchange_bindings"),
    Feature("alternate exchanges, as an argument of the exchange"),
    Feature("queues: durable, exclusive, auto-delete; x-expires"),
    Feature("limits of a queue: x-max-length, x-max-length-bytes, x-overflow"),
    Feature(
        "dead lettering: x-dead-letter-exchange, x-dead-letter-routing-key; header x-death "
        "without its time"
    ),
    Feature("single active consumer: x-single-active-consumer"),
    Feature("time to live: expiration of a message, x-message-ttl of a queue"),
    Feature("message priorities: x-max-priority"),
    Feature("mandatory messages: unroutable ones are returned"),
    Feature("exclusive consumers; consumer priorities", "consumer_priorities"),
    Feature("consumers are cancelled if their queue is deleted", "consumer_cancel_notify"),
    Feature(
        "prefetch count for each consumer, and for a channel without consumers",
        "per_consumer_qos",
    ),
    Feature("flow control: slow queues and mirrors slow their publishers down (credit flow)"),
    Feature("memory and disk alarms: publishers are blocked and notified", "connection.blocked"),
    Feature("a failed login is answered before the close", AUTHENTICATION_FAILURE_CLOSE),
    Feature("delivery acknowledgement timeout (consumer_timeout)"),
    Feature("direct reply-to", "direct_reply_to", "error 540 at basic.consume"),
    Feature("headers CC and BCC", refused="error 540 at basic.publish"),
    Feature("quorum queues, streams, lazy queues", refused="error 406 at queue.declare"),
    Feature("basic.publish with immediate", refused="error 540, as RabbitMQ"),
    Feature("basic.recover without requeue", refused="error 540, as RabbitMQ"),
    Feature("prefetch size", refused="error 540, as RabbitMQ"),
    Feature("channel.flow(active=false)", refused="error 540, as RabbitMQ"),
    Feature("prefetch count for a channel that has consumers", refused="error 540"),
    Feature("virtual hosts except /, users except guest", refused="error 530 or 403 at the login"),
    Feature("TLS, MQTT, STOMP, AMQP 1.0", refused="no listener: the connection is refused"),
)


def announced() -> tuple[str, ...]:
    return tuple(one.announced for one in FEATURES if one.there and one.announced)


def lines() -> Iterator[str]:
    """Markdown: docs/reference.md."""
    yield "# AMQP features of the mirrored reference"
    yield ""
    yield "*Made by `python -m reference_impl.amqp.rules.features`; a test compares.*"
    yield ""
    yield "The mirrored reference imitates RabbitMQ's AMQP 0-9-1 listener. Its handshake announces"
    yield "capabilities from the same list, so clients use only features that exist. If a client"
    yield "uses an absent feature anyway, it gets the error of the last column. No request is"
    yield "ignored."
    yield ""
    yield "| feature | present | announced as | answer if absent |"
    yield "| --- | --- | --- | --- |"
    for one in FEATURES:
        name = f"`{one.announced}`" if one.announced and one.there else "-"
        yield f"| {one.name} | {'yes' if one.there else 'no'} | {name} | {one.refused or '-'} |"


if __name__ == "__main__":
    print("\n".join(lines()))
