"""Which queues each client serves, and the key `queues` as a number."""

import pytest

from harness.plan.clients.requirements import chosen_client
from harness.plan.distribution import consumers_of, generated, named, served, serves_several
from harness.plan.files.toml import read_scenario
from harness.plan.model import Scenario
from harness.plan.problems import PlanError

TEXT = """
title = "Many queues"
[workload]
queues = {queues}
publishers = {publishers}
consumers = {consumers}
rate = 100
publisher_endpoint = "{endpoint}"
"""


def scenario(
    queues: str, publishers: int = 2, consumers: int = 2, endpoint: str = "uninvolved"
) -> Scenario:
    text = TEXT.format(
        queues=queues, publishers=publishers, consumers=consumers, endpoint=endpoint
    )
    return read_scenario("many", text)


@pytest.mark.parametrize(
    ("publishers", "shares"),
    [
        (1, [("a", "b", "c")]),
        (2, [("a", "c"), ("b",)]),
        (3, [("a",), ("b",), ("c",)]),
        (4, [("a",), ("b",), ("c",), ("a",)]),
    ],
)
def test_queues_are_dealt_in_turn(publishers: int, shares: list[tuple[str, ...]]) -> None:
    workload = scenario('["a", "b", "c"]', publishers=publishers).workload
    found = [served(workload, publishers, index) for index in range(publishers)]
    assert found == shares


def test_every_queue_has_a_client_if_there_is_one() -> None:
    workload = scenario("200", publishers=7).workload
    dealt = [queue for index in range(7) for queue in served(workload, 7, index)]
    assert sorted(dealt) == sorted(workload.queues) == sorted(generated(200))


@pytest.mark.parametrize(("consumers", "counts"), [(0, (0, 0)), (1, (1, 1)), (3, (2, 1))])
def test_consumers_of_a_queue_are_counted(consumers: int, counts: tuple[int, int]) -> None:
    workload = scenario('["a", "b"]', consumers=consumers).workload
    assert (consumers_of(workload, "a"), consumers_of(workload, "b")) == counts


@pytest.mark.parametrize(
    ("publishers", "consumers", "several"),
    [(2, 2, False), (2, 0, False), (1, 2, True), (2, 1, True), (1, 0, True)],
)
def test_a_client_without_the_capability_is_refused(
    publishers: int, consumers: int, several: bool
) -> None:
    workload = scenario("2", publishers, consumers).workload
    assert serves_several(workload) is several
    for client, can in (("pika", True), ("rocketmq-python-5.3.3", False)):
        reasons = chosen_client(client).obstacles(chosen_client(client).wanted(workload))
        assert any("several queues" in reason for reason in reasons) is (several and not can)


@pytest.mark.parametrize("queues", ["0", "257", "true", "2.5", '"orders"'])
def test_a_number_out_of_range_is_refused(queues: str) -> None:
    with pytest.raises(PlanError, match="must be a list of names, or a number from 1 to 256"):
        scenario(queues)


def test_a_target_may_name_a_generated_queue() -> None:
    target = scenario("200", endpoint="master of queue-200").workload.publisher_endpoint.target
    assert target is not None and target.queue == "queue-200"
    with pytest.raises(PlanError, match=r"no queue 'queue-201', but queue-1 to queue-200"):
        scenario("200", endpoint="master of queue-201")


def test_many_queues_are_named_by_the_first_and_last() -> None:
    assert named(generated(8)).endswith("queue-7, queue-8")
    assert named(generated(9)) == "queue-1 to queue-9 (9 queues)"
