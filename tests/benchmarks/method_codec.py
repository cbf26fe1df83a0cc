"""Whether pamqp could take the place of the reference's method tables: microseconds a method.

    python -m tests.benchmarks.method_codec [--rounds 5]

Both write a frame of the same method and read it again, in turn. Each figure is the median over
the rounds, with the ratio ours / pamqp.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import pamqp.commands as library
import pamqp.frame
from pamqp import base

from reference_impl.amqp.codec import methods, queue_methods, session_methods
from reference_impl.amqp.codec.method import Method

TIMES, CHANNEL = 20_000, 7
PAIRS: tuple[tuple[Method, base.Frame], ...] = (
    (
        queue_methods.QueueDeclare(0, "orders", False, True, False, False, False, {"x-max": 4}),
        library.Queue.Declare(0, "orders", durable=True, arguments={"x-max": 4}),
    ),
    (
        queue_methods.BasicPublish(0, "", "orders", True, False),
        library.Basic.Publish(0, "", "orders", mandatory=True),
    ),
    (
        queue_methods.BasicDeliver("ctag", 12_345, False, "", "orders"),
        library.Basic.Deliver("ctag", 12_345, False, "", "orders"),
    ),
    (queue_methods.BasicAck(12_345, True), library.Basic.Ack(12_345, True)),
    (session_methods.TxCommit(), library.Tx.Commit()),
)


def ours(method: Method) -> None:
    written = methods.method_frame(CHANNEL, method)
    methods.decode(written[7:-1])


def theirs(method: base.Frame) -> None:
    pamqp.frame.unmarshal(pamqp.frame.marshal(method, CHANNEL))


def spent_us(work: Callable[[], None]) -> float:
    began_ns = time.process_time_ns()
    for _ in range(TIMES):
        work()
    return (time.process_time_ns() - began_ns) / TIMES / 1000


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("--rounds", type=int, default=5)
    rounds = words.parse_args().rounds
    for our, their in PAIRS:
        spent = [
            (spent_us(lambda our=our: ours(our)), spent_us(lambda their=their: theirs(their)))  # type: ignore[misc]
            for _ in range(rounds)
        ]
        first, second = (statistics.median(each) for each in zip(*spent, strict=True))
        name = type(our).__name__
        print(f"{name:14} ours {first:5.2f} us, pamqp {second:5.2f} us: {first / second:.2f}")


if __name__ == "__main__":
    main()
