"""The shape of a layout file of the reference, which is that of the real ones."""

from typing import Literal

from harness.systems.rocketmq_2m2s.layouts import MasterSlaveFile


class ReferenceLayoutFile(MasterSlaveFile):
    """`version`: it has none; what it does is what 4.9 does."""

    version: Literal["reference"]
