"""Brokers of a DLedger group before their clients and a name server: who is the master, what
counts as sent, what readers see, and what goes on at the next leader."""

from reference_impl.rocketmq.broker.topics import HALF
from reference_impl.rocketmq.remoting.codes import Code, RequestCode
from reference_impl.rocketmq.store.properties import write
from reference_impl.rocketmq.store.records import COMMITTED, PREPARED
from tests.reference_impl.rocketmq.dledger.brokers import NAMES, BrokerGroupWorld
from tests.reference_impl.rocketmq.talking import Client, sending

BUSY = "[PC_SYNCHRONIZED]broker busy, start flow control for a while"


def _bodies(group: BrokerGroupWorld, name: str, queue: int = 0) -> list[bytes]:
    return [record.body for record in group.pull(name, queue)]


def test_routes_list_the_leader_as_0_and_followers_by_number() -> None:
    group = BrokerGroupWorld(1)
    master = group.master()
    group.world.run(3_000)
    shown = {str(number + 1): f"{name}:10911" for number, name in enumerate(NAMES)}
    shown.pop(str(NAMES.index(master) + 1))
    assert group.route() == {"0": f"{master}:10911", **shown}


def test_a_message_sent_to_the_master_is_readable_everywhere() -> None:
    group = BrokerGroupWorld(2)
    master = group.master()
    answers = [group.send(master, b"%d" % number) for number in range(3)]
    assert [answer.header.code for answer in answers] == [Code.SUCCESS] * 3
    assert [answer.header.fields["queueOffset"] for answer in answers] == ["0", "1", "2"]
    group.world.run(14_000)  # a follower copies its leader's topics every ten seconds
    assert {name: _bodies(group, name) for name in NAMES} == {
        name: [b"0", b"1", b"2"] for name in NAMES
    }


def test_a_record_says_where_its_body_lies_in_the_log() -> None:
    group = BrokerGroupWorld(3)
    master = group.master()
    group.send(master, b"x")
    (record,) = group.pull(master)
    assert record.position % 48 == 0  # behind an empty entry, and the head of its own
    answer = group.client.ask(
        f"{master}:10911", RequestCode.VIEW_MESSAGE_BY_ID, {"offset": record.position}
    )
    assert answer.header.code == Code.SUCCESS


def test_a_follower_takes_no_message() -> None:
    group = BrokerGroupWorld(4)
    master = group.master()
    for name in NAMES:
        if name != master:
            assert group.send(name, b"x").header.code == Code.SERVICE_NOT_AVAILABLE


def test_without_a_majority_a_send_fails_after_2500_ms() -> None:
    """Let the send fail after 2,500 ms; its message is readable once a majority is back."""
    group = BrokerGroupWorld(5)
    master = group.master()
    group.world.run(3_000)
    others = [name for name in NAMES if name != master]
    group.send(master, b"before")
    for name in others:
        group.world.freeze(name)
    began_ms = group.world.time.ms
    answer = group.send(master, b"x")
    assert (answer.header.code, answer.header.remark) == (Code.SYSTEM_ERROR, BUSY)
    assert 2_500 <= group.world.time.ms - began_ms < 2_700
    assert _bodies(group, master) == [b"before"]
    for name in others:
        group.world.thaw(name)
    group.world.run(2_000)
    assert _bodies(group, master) == [b"before", b"x"]


def test_offsets_go_on_at_the_next_leader() -> None:
    group = BrokerGroupWorld(6)
    old = group.master()
    for number in range(40):
        group.send(old, b"%d" % number, number % 2)
    group.world.run(14_000)
    group.world.crash(old)
    new = group.master()
    answer = group.send(new, b"after")
    assert (answer.header.code, answer.header.fields["queueOffset"]) == (Code.SUCCESS, "20")
    assert _bodies(group, new) == [*(b"%d" % number for number in range(0, 40, 2)), b"after"]
    assert group.route()["0"] == f"{new}:10911"


def test_a_delayed_message_comes_from_the_next_leader() -> None:
    group = BrokerGroupWorld(7)
    old = group.master()
    group.send(old, b"seed")
    assert group.send(old, b"late", DELAY="4").header.code == Code.SUCCESS  # 30 s
    group.world.run(14_000)
    group.world.crash(old)
    new = group.master()
    assert _bodies(group, new) == [b"seed"]
    group.world.run(30_000)
    assert _bodies(group, new) == [b"seed", b"late"]


def _begin_transaction(group: BrokerGroupWorld, master: str) -> None:
    fields = sending("t", 0, TRAN_MSG="true", PGROUP="producers", UNIQ_KEY="u")
    code = RequestCode.SEND_MESSAGE_V2
    answer = group.client.ask(f"{master}:10911", code, {**fields, "f": PREPARED}, b"half")
    assert answer.header.code == Code.SUCCESS


def test_the_next_leader_asks_about_a_half_and_commits_it() -> None:
    group = BrokerGroupWorld(8)
    old = group.master()
    group.send(old, b"seed")
    _begin_transaction(group, old)
    group.world.run(14_000)
    group.world.crash(old)
    new = group.master()
    producer = Client(group.world, "producer")
    body = b'{"clientID":"p","producerDataSet":[{"groupName":"producers"}],"consumerDataSet":[]}'
    producer.ask(f"{new}:10911", RequestCode.HEART_BEAT, body=body)
    group.world.run(130_000)
    checks = [
        one for one in producer.requests if one.header.code == RequestCode.CHECK_TRANSACTION_STATE
    ]
    fields = checks[-1].header.fields
    decision = {
        "producerGroup": "producers",
        "tranStateTableOffset": fields["tranStateTableOffset"],
        "commitLogOffset": fields["commitLogOffset"],
        "commitOrRollback": COMMITTED,
    }
    answer = producer.ask(f"{new}:10911", RequestCode.END_TRANSACTION, decision)
    assert answer.header.code == Code.SUCCESS
    group.world.run(1_000)
    assert _bodies(group, new) == [b"seed", b"half"]
    assert group.server(new).store.ends(HALF, 0)[1] >= 2


def test_a_thawed_leader_reclaims_broker_id_0_for_a_moment() -> None:
    group = BrokerGroupWorld(9)
    old = group.master()
    group.world.run(3_000)
    group.world.freeze(old)
    new = group.master(but=old)
    assert group.route()["0"] == f"{new}:10911"
    group.world.run(40_000)  # its own registration is due by then
    group.world.thaw(old)
    seen = set[str]()
    for _ in range(100):
        group.world.run(5)
        seen.add(group.route().get("0", ""))
    assert f"{old}:10911" in seen
    group.world.run(2_000)
    assert group.masters() == [new]
    group.world.run(31_000)
    assert group.route()["0"] == f"{new}:10911"


def test_a_send_to_a_thawed_old_leader_is_not_confirmed() -> None:
    group = BrokerGroupWorld(10)
    old = group.master()
    group.world.run(3_000)
    group.send(old, b"before")
    group.world.run(14_000)
    group.world.freeze(old)
    number = group.client.send(f"{old}:10911", RequestCode.SEND_MESSAGE_V2, sending("t"), b"stale")
    new = group.master(but=old)
    group.world.run(14_000)
    group.world.thaw(old)
    answer = group.client.answer(number, 10_000)
    assert answer is not None
    assert answer.header.code in (Code.SYSTEM_ERROR, Code.SERVICE_NOT_AVAILABLE)
    group.world.run(5_000)
    assert _bodies(group, new) == [b"before"]


def test_a_batch_is_confirmed_as_one() -> None:
    group = BrokerGroupWorld(11)
    master = group.master()
    group.send(master, b"seed")
    inner = b"".join(_inner(body) for body in (b"a", b"b", b"c"))
    fields = {**sending("t"), "m": "true"}
    answer = group.client.ask(f"{master}:10911", RequestCode.SEND_BATCH_MESSAGE, fields, inner)
    assert answer.header.code == Code.SUCCESS
    assert answer.header.fields["queueOffset"] == "1"
    assert len(answer.header.fields["msgId"].split(",")) == 3
    assert _bodies(group, master) == [b"seed", b"a", b"b", b"c"]


def _inner(body: bytes) -> bytes:
    props = write({"KEYS": "k"}).encode()
    size = 4 + 4 + 4 + 4 + 4 + len(body) + 2 + len(props)
    head = b"".join(number.to_bytes(4) for number in (size, 0, 0, 0, len(body)))
    return head + body + len(props).to_bytes(2) + props
