"""PURE: what a layout of CTGMQ has that others with controllers have not."""

from dataclasses import dataclass

from harness.plan.model import Layout
from harness.systems.rocketmq_controller.layout import Controlled

EPOCHS, SLAVE_ACK = "epochs", "slave-ack"  # the broker's own words (ctgmq/settings.py)
_CUTS = {
    EPOCHS: "where the epochs of both logs differ",
    SLAVE_ACK: "at its SlaveAckOffset, if it was the master",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ctgmq(Controlled):
    """`truncation`: where a broker that becomes a slave cuts its log."""

    truncation: str

    def describe(self) -> tuple[tuple[str, str], ...]:
        """OwnLayout."""
        return (*Controlled.describe(self), ("a slave's log", f"cut {_CUTS[self.truncation]}"))


def ctgmq(layout: Layout) -> Ctgmq:
    """Raises TypeError for a layout of another system."""
    if not isinstance(layout.own, Ctgmq):
        raise TypeError(f"{layout.label} of {layout.system} is no layout of CTGMQ")
    return layout.own
