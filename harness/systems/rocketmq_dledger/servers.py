"""PURE: what members of DLedger groups and name servers are on a layout's hosts."""

from collections.abc import Sequence

from harness.plan.model import Layout
from harness.plan.servers import Servers, Voter
from harness.systems.rocketmq.layout import ServerProcess, brokers
from harness.systems.rocketmq.servers import rocketmq_servers
from harness.systems.rocketmq_dledger.settings import member
from harness.workers.remoting.leaders import BY_MEMBERS


def dledger_servers(layout: Layout) -> Servers:
    members = brokers(layout.hosts)
    voters = [_voter(one, members) for one in members]
    return rocketmq_servers(layout, lambda _: None, voters, controllers=())


def _voter(one: ServerProcess, members: Sequence[ServerProcess]) -> Voter:
    peer = next(other for other in members if other.group == one.group and other != one)
    return Voter(
        host=one.host,
        word=one.process,
        query=BY_MEMBERS,
        groups=(one.group,),
        id=member(one),
        peer=member(peer),
    )
