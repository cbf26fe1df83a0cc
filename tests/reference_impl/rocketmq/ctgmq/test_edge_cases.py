"""The cases that a reviewer of such a design asks for (docs/behaviour/rocketmq-ctgmq.md 3): each
test says what would be lost without one rule, and shows it with the rule switched off."""

import pytest

from reference_impl.rocketmq.ctgmq.requests import ControlAnswer
from reference_impl.rocketmq.ctgmq.rules import ReplicaRule as Rule
from reference_impl.rocketmq.ctgmq.settings import ReplicaSettings, Truncation
from reference_impl.rocketmq.remoting.codes import Code
from tests.reference_impl.rocketmq.ctgmq.clusters import GROUP, TIMES
from tests.reference_impl.rocketmq.ctgmq.stage import LEASE_OVER_MS, Stage

# --- leases and control nodes


@pytest.mark.parametrize(("without", "serves"), [((), False), ((Rule.QUORUM_LEASE,), True)])
def test_a_minority_would_prolong_the_lease_of_its_master(
    without: tuple[Rule, ...], serves: bool
) -> None:
    stage = Stage(*without)
    control = stage.cluster.control()
    others = [name for name in stage.cluster.hosts if name not in (control, stage.master)]
    stage.isolate(control, *others)
    stage.isolate(stage.master, *others)
    stage.run(LEASE_OVER_MS + 1_500)
    assert (stage.cluster.masters() == [stage.master]) is serves


@pytest.mark.parametrize(("without", "is_back"), [((), False), ((Rule.FENCE_STATE,), True)])
def test_a_late_answer_would_make_an_old_master_again(
    without: tuple[Rule, ...], is_back: bool
) -> None:
    stage = Stage(*without)
    old = stage.cluster.replica(stage.master).state
    stage.crash(stage.master)
    assert stage.elected(stage.slave)
    stage.start(stage.master)
    stage.run(3_000)
    replica = stage.cluster.replica(stage.master)
    assert replica.epoch == 2
    replica.answered(stage.world.hosts[stage.master].clock.now_ms(), ControlAnswer(old, 0))
    assert (replica.master is not None) is is_back


@pytest.mark.parametrize(("without", "rivals"), [((), False), ((Rule.LEASE,), True)])
def test_two_masters_would_serve_clients_at_a_time(
    without: tuple[Rule, ...], rivals: bool
) -> None:
    stage = Stage(*without)
    stage.isolate_from_controls(stage.master)
    assert stage.cluster.until(lambda: stage.slave in stage.cluster.masters(), 20_000)
    assert bool(stage.watch.broken) is rivals


@pytest.mark.parametrize(("without", "rivals"), [((), False), ((Rule.LEASE_ON_ACK,), True)])
def test_a_stopped_master_would_acknowledge_after_its_successor(
    without: tuple[Rule, ...], rivals: bool
) -> None:
    stage = Stage(*without)
    number = stage.put()
    stage.world.freeze(stage.master)
    assert stage.elected(stage.slave)
    stage.world.thaw(stage.master)
    stage.run(200)
    assert stage.is_confirmed(number) is rivals
    assert bool(stage.watch.broken) is rivals


@pytest.mark.parametrize(
    ("without", "lost"), [((Rule.LEASE,), False), ((Rule.LEASE, Rule.ACK_EPOCH), True)]
)
def test_a_promoted_slave_would_acknowledge_what_it_lacks(
    without: tuple[Rule, ...], lost: bool
) -> None:
    """The lease hides it: this master has none to lose."""
    stage = Stage(*without)
    stage.isolate_from_controls(stage.master)
    stage.cluster.until(lambda: stage.cluster.replica(stage.slave).master is not None, 20_000)
    stage.put(stage.slave, 3)
    stage.run(300)
    number = stage.put(stage.master)
    stage.run(300)
    has_it = number in stage.cluster.numbers(stage.slave)
    assert (stage.is_confirmed(number) and not has_it) is lost


@pytest.mark.parametrize(("without", "is_replaced"), [((), False), ((Rule.GRACE,), True)])
def test_a_new_control_node_would_replace_a_master_that_lives(
    without: tuple[Rule, ...], is_replaced: bool
) -> None:
    stage = Stage(*without)
    stage.crash(stage.cluster.control())
    for control in stage.cluster.controls:
        stage.cut(stage.master, control)
    assert stage.cluster.until(lambda: stage.cluster.control() != "", 30_000)
    stage.run(1_500)
    stage.heal()
    stage.run(5_000)
    assert (stage.cluster.replica(stage.slave).epoch > 1) is is_replaced


@pytest.mark.parametrize(("without", "is_lost"), [((), False), ((Rule.CONFIRMED_ROLE,), True)])
def test_a_restarted_master_would_take_messages_that_are_cut(
    without: tuple[Rule, ...], is_lost: bool
) -> None:
    stage = Stage(*without)
    stage.crash(stage.master)
    assert stage.elected(stage.slave)
    stage.isolate_from_controls(stage.master)
    stage.isolate(stage.master, stage.slave)
    stage.start(stage.master)
    stage.run(500)
    number = stage.put(stage.master)
    stage.run(500)
    assert stage.is_confirmed(number) is is_lost
    assert (number in stage.lost()) is is_lost


@pytest.mark.parametrize("first", ["master", "slave"])
def test_a_restarted_slave_would_rule_with_an_older_log(first: str) -> None:
    """Both stop: the last committed master goes on, and not the first one to register."""
    stage = Stage()
    stage.crash(stage.slave)
    stage.run(8_000)
    number = stage.put()
    stage.run(500)
    assert stage.is_confirmed(number)
    stage.crash(stage.master)
    both = [stage.master, stage.slave]
    stage.start(*(both if first == "master" else both[1:]))
    stage.run(30_000 if first == "slave" else 5_000)
    assert stage.cluster.masters() == ([stage.master] if first == "master" else [])


@pytest.mark.parametrize(("without", "is_quick"), [((), True), ((Rule.HANDOVER,), False)])
def test_an_orderly_stop_would_cost_the_whole_expiry_time(
    without: tuple[Rule, ...], is_quick: bool
) -> None:
    stage = Stage(*without)
    stage.cluster.stop(stage.master)
    assert stage.elected(stage.slave, 3_000) is is_quick
    assert stage.elected(stage.slave)


@pytest.mark.parametrize(("controls", "is_elected"), [(3, True), (2, False)])
def test_two_name_servers_would_fall_with_one_host(controls: int, is_elected: bool) -> None:
    """The host of a master is that of a name server, too: its loss is what is to be survived."""
    stage = Stage(controls=controls)
    stage.crash(stage.master, stage.cluster.controls[0])
    assert stage.elected(stage.slave, 40_000) is is_elected


# --- the SyncStateSet


@pytest.mark.parametrize(("without", "is_lost"), [((), False), ((Rule.COMMIT_SHRINK,), True)])
def test_a_removal_without_commit_would_lose_confirmed_messages(
    without: tuple[Rule, ...], is_lost: bool
) -> None:
    stage = Stage(*without)
    stage.isolate_from_controls(stage.master)
    stage.crash(stage.slave)
    stage.run(2_500)
    number = stage.put()
    stage.run(500)
    stage.crash(stage.master)
    stage.start(stage.slave)
    assert stage.elected(stage.slave)
    assert (number in stage.lost()) is is_lost


@pytest.mark.parametrize(("without", "is_lost"), [((), False), ((Rule.IN_SET,), True)])
def test_an_election_outside_the_set_would_lose_confirmed_messages(
    without: tuple[Rule, ...], is_lost: bool
) -> None:
    """With the rule the group is unavailable, and loses nothing."""
    stage = Stage(*without)
    stage.shrink()
    number = stage.put()
    stage.run(500)
    assert stage.is_confirmed(number)
    stage.crash(stage.master)
    stage.heal()
    assert stage.elected(stage.slave, 30_000) is is_lost
    if is_lost:
        assert number in stage.lost()
    else:
        stage.start(stage.master)
        assert stage.elected(stage.master) and not stage.lost()


@pytest.mark.parametrize(("without", "is_lost"), [((), False), ((Rule.UNION,), True)])
def test_an_addition_on_its_way_would_lose_confirmed_messages(
    without: tuple[Rule, ...], is_lost: bool
) -> None:
    stage = Stage(*without)
    stage.shrink()
    for control in stage.cluster.controls:
        stage.cut(control, stage.master)  # it does not hear of the commit
    for pair in ((stage.master, stage.slave), (stage.slave, stage.master)):
        stage.world.heal(*pair)
    stage.run(800)
    stage.isolate(stage.master, stage.slave)
    number = stage.put()
    stage.run(500)
    stage.crash(stage.master)
    assert stage.elected(stage.slave)
    assert (number in stage.lost()) is is_lost


@pytest.mark.parametrize(("without", "is_lost"), [((), False), ((Rule.JOIN_CAUGHT_UP,), True)])
def test_a_member_that_is_behind_would_lose_confirmed_messages(
    without: tuple[Rule, ...], is_lost: bool
) -> None:
    stage = Stage(*without)
    stage.crash(stage.slave)
    stage.run(8_000)
    number = stage.put(count=20)
    stage.run(500)
    assert stage.is_confirmed(number)
    stage.start(stage.slave)
    replica = stage.cluster.replica(stage.master)
    assert replica.master is not None
    while 0 not in {one.ack for one in replica.master._followers.values()}:
        stage.run(1)
    while not any(one.ack for one in replica.master._followers.values()):
        stage.run(0.1)
    stage.cut(stage.master, stage.slave)
    stage.run(1_500)
    stage.crash(stage.master)
    assert stage.elected(stage.slave, 30_000) is is_lost
    if is_lost:
        assert number in stage.lost()


def test_a_slave_behind_the_first_file_would_stay_empty() -> None:
    stage = Stage()
    stage.crash(stage.slave)
    stage.run(8_000)
    for _ in range(110):
        stage.put()
        stage.run(20)
    series = stage.world.hosts[stage.master].disk.series("commitlog", 4096)
    series._files.pop(0)
    series._files.pop(4096)
    stage.start(stage.slave)
    assert stage.cluster.until(stage.is_whole, 20_000)
    stage.run(500)
    kept = stage.cluster.numbers(stage.slave)
    assert kept == stage.cluster.numbers(stage.master) == [*range(kept[0], 112)]
    assert kept[0] > 1


@pytest.mark.parametrize(("without", "takes"), [((), []), ((Rule.MIN_IN_SYNC,), ["master"])])
def test_a_lone_master_would_hold_the_only_copy(
    without: tuple[Rule, ...], takes: list[str]
) -> None:
    stage = Stage(*without, min_in_sync=2)
    stage.crash(stage.slave)
    stage.run(9_000)
    number = stage.put()
    stage.run(500)
    assert len(stage.cluster.masters()) == len(takes)
    assert stage.is_confirmed(number) is bool(takes)


@pytest.mark.parametrize(("without", "goes_on"), [((), True), ((Rule.OUT_BEHIND,), False)])
def test_a_slave_that_is_never_heard_would_block_all(
    without: tuple[Rule, ...], goes_on: bool
) -> None:
    """Its master's octets arrive, and its acknowledgements do not."""
    stage = Stage(*without)
    stage.cut(stage.slave, stage.master)
    stage.put()
    stage.run(10_000)
    number = stage.put()
    stage.run(1_000)
    assert stage.is_confirmed(number) is goes_on


@pytest.mark.parametrize(("without", "is_steady"), [((), True), ((Rule.HYSTERESIS,), False)])
def test_a_slow_slave_would_leave_and_join_again_and_again(
    without: tuple[Rule, ...], is_steady: bool
) -> None:
    stage = Stage(*without)
    master = stage.cluster.replica(stage.master).master
    assert master is not None
    before = master.set_changes
    for _ in range(8):
        stage.world.freeze(stage.slave)
        stage.put()
        stage.run(2_200)
        stage.world.thaw(stage.slave)
        stage.run(800)
    assert (master.set_changes - before < 2) is is_steady


@pytest.mark.parametrize(("without", "is_lost"), [((), False), ((Rule.CHECK_CODE,), True)])
def test_an_empty_store_under_a_known_name_would_rule(
    without: tuple[Rule, ...], is_lost: bool
) -> None:
    stage = Stage(*without)
    stage.crash(stage.master, stage.slave)
    settings = ReplicaSettings(
        group=GROUP, name=stage.slave, address="copy:10912", without=without, times=TIMES
    )
    stage.cluster.add("copy", settings)
    stage.cluster.names[stage.cluster.names.index(stage.slave)] = "copy"
    assert stage.elected("copy", 30_000) is is_lost
    assert stage.cluster.replica("copy").is_refused is not is_lost
    if is_lost:
        assert stage.lost() == {1}


# --- logs


def _two_tails(truncation: Truncation) -> Stage:
    """Two replicas put different messages at the same places; the third one has the first of
    them, and never was a master."""
    stage = Stage(replicas=3, truncation=truncation)
    third = next(n for n in stage.cluster.names if n not in (stage.master, stage.slave))
    stage.isolate(stage.master, stage.slave)
    stage.isolate_from_controls(third)
    stage.put()
    stage.run(500)
    stage.crash(stage.master)
    assert stage.elected(stage.slave)
    stage.put(stage.slave)
    stage.run(500)
    stage.heal()
    stage.run(5_000)
    stage.crash(stage.slave)
    assert stage.elected(third)
    return stage


def test_equal_offsets_with_other_messages_would_lose_confirmed_ones() -> None:
    """SlaveAckOffset cannot tell two tails of one length apart."""
    assert not _two_tails(Truncation.EPOCHS).lost()
    assert _two_tails(Truncation.SLAVE_ACK).lost() == {3}


@pytest.mark.parametrize(("without", "is_lost"), [((), False), ((Rule.ASK_FIRST,), True)])
def test_cutting_at_a_restart_would_lose_confirmed_messages(
    without: tuple[Rule, ...], is_lost: bool
) -> None:
    """Alone in the set a master confirms what no slave has acknowledged."""
    stage = Stage(*without, truncation=Truncation.SLAVE_ACK)
    stage.shrink()
    number = stage.put()
    stage.run(500)
    assert stage.is_confirmed(number)
    stage.crash(stage.master)
    stage.start(stage.master)
    assert stage.elected(stage.master)
    assert (number in stage.lost()) is is_lost


@pytest.mark.parametrize(("without", "is_lost"), [((), False), ((Rule.BOUNDARY,), True)])
def test_half_a_message_would_hide_all_that_follow(
    without: tuple[Rule, ...], is_lost: bool
) -> None:
    stage = Stage(*without)
    stage.isolate(stage.master, stage.slave)
    stage.put()
    replica = stage.cluster.replica(stage.slave)
    octets = stage.cluster.replica(stage.master).log.octets(replica.log.end, 50)
    replica.log.append_copy(octets)  # a batch ends anywhere
    stage.crash(stage.master)
    assert stage.elected(stage.slave)
    number = stage.put(stage.slave)
    stage.run(500)
    assert stage.is_confirmed(number)
    assert (number in stage.lost()) is is_lost


# --- clients


@pytest.mark.parametrize(("without", "is_seen"), [((), False), ((Rule.READ_CONFIRMED,), True)])
def test_consumers_would_see_messages_that_are_cut_later(
    without: tuple[Rule, ...], is_seen: bool
) -> None:
    stage = Stage(*without)
    stage.isolate(stage.master, stage.slave)
    number = stage.put()
    stage.run(500)
    stage.cluster.read()
    assert (number in stage.watch.numbers_read()) is is_seen
    stage.crash(stage.master)
    assert stage.elected(stage.slave)
    assert number not in stage.cluster.numbers(stage.slave)


@pytest.mark.parametrize(
    ("without", "code"),
    [((), Code.SERVICE_NOT_AVAILABLE), ((Rule.ERROR_CODES,), Code.FLUSH_SLAVE_TIMEOUT)],
)
def test_producers_would_take_lost_messages_for_sent(
    without: tuple[Rule, ...], code: Code
) -> None:
    """Clients send again after 14, and take 10, 11 and 12 for success."""
    stage = Stage(*without)
    assert stage.cluster.replica(stage.master).code(False) == code
    stage.isolate(stage.master, stage.slave)
    number = stage.put()
    stage.run(3_500)
    stage.crash(stage.master)
    assert stage.elected(stage.slave)
    assert (number in stage.lost()) is bool(without)
