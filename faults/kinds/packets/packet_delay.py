"""`packet_delay`: a host whose packets are late, each by a delay that may vary."""

from dataclasses import dataclass

from faults.core.actions import ClearImpairment, Impair
from faults.core.kind import Compiled, ResolvedFault
from faults.core.model import FaultError, Impairment, Proof
from faults.core.options import Option, milliseconds
from faults.kinds.families import packet_fault
from faults.kinds.packets import rules
from faults.kinds.packets.sampling import WAIT_S, PacketOptions, Sampled

DELAY = Option(
    "delay",
    "of a packet delay: 50 ms to 5 s, of each packet that the host sends",
    0.0,
    least=0.05,
    most=5.0,
)
JITTER = Option(
    "jitter",
    "of a packet delay: each packet's delay differs by at most so much, at random",
    0.0,
    least=0.001,
    most=2.5,
)
CORRELATION = Option(
    "correlation",
    "of a jitter: percent by which it follows the packet before",
    0,
    least=1,
    most=100,
)


@dataclass(frozen=True, slots=True)
class PacketDelayOptions(PacketOptions):
    delay_s: float = DELAY.field()
    jitter_s: float = JITTER.field()
    correlation: int = CORRELATION.field()

    @property
    def contradiction(self) -> tuple[str, str]:
        """Return the jitter if packets could be as quick with it as without the fault, and the
        correlation if there is no jitter."""
        if self.delay_s and self.jitter_s > self.delay_s / 2:
            most = f"{self.delay_s / 2:g} s"
            return JITTER.key, f"must be at most half of the delay ({most})"
        if self.correlation and not self.jitter_s:
            return CORRELATION.key, "is of a jitter, and there is none"
        return "", ""

    @property
    def impairment(self) -> Impairment:
        return Impairment(0, self.delay_s, self.jitter_s, self.correlation / 100, 0)


class PacketsLate(Sampled):
    """The looks at a delay: by the round trips of echo requests."""

    @property
    def meant(self) -> Impairment:
        return PacketDelayOptions.of(self.armed).impairment

    def requests(self) -> tuple[int, float]:
        return rules.ECHOES_OF_DELAY, WAIT_S + self.meant.delay_s + self.meant.jitter_s

    def present(self, evidence: rules.PacketEvidence) -> Proof:
        return rules.delay_held(evidence, self.meant)

    def absent(self, samples: rules.Samples) -> Proof:
        return rules.quick(samples, self.meant)


def _compile(fault: ResolvedFault) -> Compiled:
    if len(fault.hosts) == 1:
        raise FaultError(f"{fault.host} is alone; no other host could measure what is late")
    options = PacketDelayOptions.of(fault)
    if not options.delay_s:
        raise FaultError("packet_delay: no delay was given")
    key, why = options.contradiction
    if key:
        raise FaultError(f"packet_delay: {key} {why}")
    delayed = Impair(
        fault.host,
        delay_ms=milliseconds(options.delay_s),
        jitter_ms=milliseconds(options.jitter_s),
        correlation=options.correlation,
    )
    return Compiled((delayed,), (ClearImpairment(fault.host),))


PACKET_DELAY = packet_fault(
    name="packet_delay",
    title="each packet that the host sends, to peers and to clients, is late by `delay`, more or "
    "less by up to `jitter`",
    undone_by="packets are sent at once; what was held is dropped, and TCP sends it again",
    options=PacketDelayOptions,
    needs_all=("delay",),
    ends_broker=False,
    takes_page_cache=False,
    silences_clients=False,
    spares_disk=None,
    compile=_compile,
    verify=PacketsLate,
)
