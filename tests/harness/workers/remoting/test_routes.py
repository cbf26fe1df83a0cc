"""What name servers show is read, and two views differ in sentences a person can read."""

import pytest

from harness.workers.remoting.errors import WireError
from harness.workers.remoting.requests import PERM_READ
from harness.workers.remoting.routes import (
    NOWHERE,
    TopicQueues,
    View,
    read_cluster,
    read_route,
)
from spark_analysis.schema.views import Shown, broker_in, sentences

MASTER = Shown("broker-a", 0, "a:1")
SLAVE = Shown("broker-a", 1, "b:1")
OTHER = Shown("broker-b", 0, "c:1")
QUEUES = TopicQueues("broker-a", 4, 4, 6)


def test_a_first_view_shows_everything() -> None:
    assert View((MASTER, SLAVE), (QUEUES,)).since(NOWHERE) == (
        "shows broker-a master at a:1",
        "shows broker-a slave 1 at b:1",
        "shows broker-a 4 read and 4 write queues",
    )


def test_a_dropped_master_is_reported_and_its_slave_is_not() -> None:
    before, after = View((MASTER, SLAVE, OTHER)), View((SLAVE, OTHER))
    assert after.since(before) == ("dropped broker-a master at a:1",)


def test_a_slave_that_takes_over_is_a_master_elsewhere() -> None:
    before, after = View((MASTER, SLAVE)), View((Shown("broker-a", 0, "b:1"),))
    assert after.since(before) == (
        "shows broker-a master at b:1, before at a:1",
        "dropped broker-a slave 1 at b:1",
    )


def test_broker_that_became_read_only_is_reported() -> None:
    before = View((MASTER,), (QUEUES,))
    after = View((MASTER,), (TopicQueues("broker-a", 4, 4, 4),))
    assert after.since(before) == ("shows broker-a 4 read and 4 write queues, read only",)
    assert View((MASTER,)).since(before) == ("dropped the queues of broker-a",)


def test_equal_views_do_not_differ() -> None:
    assert View((MASTER,), (QUEUES,)).since(View((MASTER,), (QUEUES,))) == ()


def test_a_view_reports_its_masters_and_itself() -> None:
    view = View((MASTER, SLAVE, OTHER), (QUEUES,))
    assert view.masters == {"broker-a": "a:1", "broker-b": "c:1"}
    assert str(view) == (
        "broker-a master at a:1; broker-a slave 1 at b:1; broker-b master at c:1; "
        "broker-a 4 read and 4 write queues"
    )
    assert str(NOWHERE) == "nothing"


def test_the_order_in_which_a_server_writes_says_nothing() -> None:
    one = b'{"brokerAddrTable":{"b":{"brokerAddrs":{1:"y:1",0:"x:1"},"brokerName":"b"}}}'
    two = b'{"brokerAddrTable":{"b":{"brokerAddrs":{0:"x:1",1:"y:1"},"brokerName":"b"}}}'
    assert read_cluster(one) == read_cluster(two)


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        b'{"brokerDatas":[1],"queueDatas":[]}',
        b'{"brokerDatas":[{"brokerAddrs":{"x":"a:1"},"brokerName":"b"}],"queueDatas":[]}',
        b'{"brokerDatas":[],"queueDatas":[{"brokerName":"b"}]}',
        b'{"brokerDatas":null,"queueDatas":[]}',
    ],
)
def test_a_malformed_route_is_refused(body: bytes) -> None:
    with pytest.raises(WireError, match="no route"):
        read_route(body)


@pytest.mark.parametrize(
    "body", [b"{}", b'{"brokerAddrTable":[]}', b'{"brokerAddrTable":{"b":1}}']
)
def test_malformed_cluster_information_is_refused(body: bytes) -> None:
    with pytest.raises(WireError, match="no cluster info"):
        read_cluster(body)


def test_text_of_a_view_is_parsed_back_sentence_by_sentence() -> None:
    master, slave = Shown("broker a", 0, "a:1"), Shown("broker a", 2, "b:1")
    queues = TopicQueues("broker a", 4, 4, PERM_READ)
    view = View((master, slave), (queues,))
    found = sentences(str(view))
    assert found == {str(master), str(slave), str(queues)}
    assert {broker_in(each) for each in found} == {master, slave, None}
    assert sentences(str(NOWHERE)) == frozenset()
