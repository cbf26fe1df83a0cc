"""`packet_loss`: a host that loses a share of the packets that it sends."""

from dataclasses import dataclass

from faults.core.actions import ClearImpairment, Impair
from faults.core.kind import Compiled, ResolvedFault
from faults.core.model import FaultError, Proof
from faults.core.options import Option
from faults.core.witness import ECHO_INTERVAL_S
from faults.kinds.families import packet_fault
from faults.kinds.packets import rules
from faults.kinds.packets.sampling import WAIT_S, PacketOptions, Sampled

LOSS = Option(
    "loss",
    "of a packet loss: percent of the packets that the host sends (a host that loses nearly all "
    "is cut off: `partition`)",
    0,
    least=1,
    most=50,  # with more, clients meet silence, and a takeover is due at no known time
)


@dataclass(frozen=True, slots=True)
class PacketLossOptions(PacketOptions):
    loss: int = LOSS.field()

    @property
    def share(self) -> float:
        return self.loss / 100

    def window_problem(self, lasts_s: float) -> str:
        if not self.loss:
            return ""
        look_s = rules.echoes_of_loss(self.share) * ECHO_INTERVAL_S + 2 * WAIT_S
        if lasts_s >= look_s:
            return ""
        return (
            f"a loss of {self.loss} % is measured for {look_s:g} s: its window must not be shorter"
        )


class PacketsLost(Sampled):
    """The looks at a loss: by the share of echo requests that no answer comes to."""

    @property
    def share(self) -> float:
        return PacketLossOptions.of(self.armed).share

    def requests(self) -> tuple[int, float]:
        return rules.echoes_of_loss(self.share), WAIT_S

    def present(self, evidence: rules.PacketEvidence) -> Proof:
        return rules.loss_held(evidence, self.share)

    def absent(self, samples: rules.Samples) -> Proof:
        return rules.lossless(samples, self.share)


def _compile(fault: ResolvedFault) -> Compiled:
    if len(fault.hosts) == 1:
        raise FaultError(f"{fault.host} is alone; no other host could measure what it loses")
    loss = PacketLossOptions.of(fault).loss
    if not loss:
        raise FaultError("packet_loss: no loss was given")
    return Compiled((Impair(fault.host, loss=loss),), (ClearImpairment(fault.host),))


PACKET_LOSS = packet_fault(
    name="packet_loss",
    title="each packet that the host sends, to peers and to clients, is lost with the probability "
    "`loss`",
    undone_by="every packet is sent again",
    options=PacketLossOptions,
    needs_all=("loss",),
    ends_broker=False,
    takes_page_cache=False,
    silences_clients=False,
    spares_disk=None,
    compile=_compile,
    verify=PacketsLost,
)
