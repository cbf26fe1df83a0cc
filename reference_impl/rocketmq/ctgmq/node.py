"""The control node in a name server: its member of the Raft group, and what it decides."""

import random

from reference_impl.rocketmq.ctgmq.control import Control
from reference_impl.rocketmq.ctgmq.settings import ControlSettings
from reference_impl.rocketmq.dledger.member import DledgerMember
from reference_impl.rocketmq.dledger.settings import MemberSettings
from reference_impl.rocketmq.effects import Clock, Effect
from reference_impl.rocketmq.store.disk import Disk


class ControlNode:
    def __init__(
        self,
        settings: ControlSettings,
        members: MemberSettings,
        clock: Clock,
        disk: Disk,
        dice: random.Random,
    ) -> None:
        self.members = members
        self.member = DledgerMember(members, clock, disk, dice)
        self.control = Control(settings, self.member, clock)

    def take(self) -> list[Effect]:
        """Return the effects of this turn."""
        effects = self.member.take()
        self.control.turn()
        return effects
