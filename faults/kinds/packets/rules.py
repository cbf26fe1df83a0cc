"""Verify that packets of a host are lost or late, and that they are not any more.

1. The measurement is from outside: echo requests from other hosts, before the fault, during it and
   after it. Each round trip has one packet that the host sends: the share of lost requests is the
   share of lost packets, and a round trip is longer by one delay.
2. A loss holds if the number of lost requests is within 4 standard deviations of what the share
   makes of them (a binomial distribution: fewer than 1 of 1,000 looks miss a true loss), and our
   queueing discipline counted them. There are enough requests that 20 are lost: so the least
   number that proves a loss is above what is taken for none, a tenth of the expected ones.
3. A delay holds if every answer took at least the delay less the jitter, and half of them not much
   more than both together. Without it the median is below half of that least time.
4. The host's kernel must report our queueing discipline with the very numbers that were meant.
5. What is not meant must be as before: the other hosts' ways to each other are measured, too.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import ceil, floor, isclose, sqrt
from statistics import median

from faults.core.model import Impairment, PacketSamples, Proof
from faults.core.replies import doubt, proven

Way = tuple[str, str]  # (who asks, who answers)
Samples = Mapping[Way, PacketSamples]

DEVIATIONS = 4
NONE = 0.1  # of the lost requests that a loss makes: so many, or fewer, are none
LOST_MEAN = 20  # so many requests are lost, at least
ECHOES_MIN = 100
ECHOES_OF_DELAY = 50
GRAIN_S = 0.002  # of a kernel's timers, and of a clock that is read before a packet leaves
LATER_S = 0.1  # a busy machine adds less than this to most answers
PRECISION = 0.01  # of what tc prints
HIDDEN = doubt("other active faults change every way by which it could be measured")


@dataclass(frozen=True, slots=True)
class PacketEvidence:
    """The observations around one round of echo requests."""

    before: Mapping[str, Impairment]  # interface of the host -> our queueing discipline
    after: Mapping[str, Impairment]
    samples: Samples  # from other hosts to the host
    beside: Samples  # between other hosts


def echoes_of_loss(share: float) -> int:
    """Return how many requests to one host make a loss of this share visible."""
    return max(ECHOES_MIN, ceil(LOST_MEAN / share))


def lost_bounds(sent: int, share: float) -> tuple[int, int]:
    """Return the least and the greatest number of lost requests that fit a loss of this share."""
    mean, spread = sent * share, DEVIATIONS * sqrt(sent * share * (1 - share))
    return ceil(round(mean - spread, 6)), min(sent, floor(round(mean + spread, 6)))


def loss_held(evidence: PacketEvidence, share: float) -> Proof:
    if unlike := _unlike(evidence, Impairment(share, 0, 0, 0, 0)):
        return unlike
    sent, lost = _sent(evidence.samples), _lost(evidence.samples)
    least, most = lost_bounds(sent, share)
    if not least <= lost <= most:
        return doubt(
            f"{lost} of {sent} echo requests lost; a loss of {share:.0%} makes it {least} to "
            f"{most}: {_counts(evidence.samples)}"
        )
    dropped = _dropped(evidence.after) - _dropped(evidence.before)
    if dropped < lost:
        return doubt(f"{lost} echo requests lost, but netem dropped {dropped} packets meanwhile")
    if wider := _wider(evidence.beside, lossless(evidence.beside, share)):
        return wider
    return proven(
        f"{lost} of {sent} echo requests of {len(evidence.samples)} hosts lost ({least} to {most} "
        f"fit {share:.0%}), {dropped} packets dropped by netem on "
        f"{', '.join(sorted(evidence.after))}; beside it {_lost(evidence.beside)} of "
        f"{_sent(evidence.beside)}"
    )


def lossless(samples: Samples, share: float) -> Proof:
    """Whether no way loses as many requests as a loss of this share would make it lose."""
    if not samples:
        return HIDDEN
    if lossy := _lossy(samples, share):
        return doubt(f"echo requests are lost: {_counts(samples, lossy)}")
    return proven(f"{_lost(samples)} of {_sent(samples)} echo requests lost")


def delay_held(evidence: PacketEvidence, meant: Impairment) -> Proof:
    if unlike := _unlike(evidence, meant):
        return unlike
    mute = [way for way, found in evidence.samples.items() if _mute(found)]
    if mute:
        return doubt(f"too few answers: {_counts(evidence.samples, mute)}")
    seconds = [one for found in evidence.samples.values() for one in found.seconds]
    least_s = quickest_s(meant) - GRAIN_S
    most_s = meant.delay_s + meant.jitter_s + max(LATER_S, meant.delay_s / 2)
    middle_s = median(seconds)
    if min(seconds) < least_s or middle_s > most_s:
        return doubt(
            f"round trips of {min(seconds):.3f} s and more, half of them above {middle_s:.3f} s; "
            f"a delay makes it {least_s:.3f} s at least, and half of them at most {most_s:.3f} s"
        )
    if wider := _wider(evidence.beside, quick(evidence.beside, meant)):
        return wider
    return proven(
        f"{len(seconds)} round trips of {len(evidence.samples)} hosts took {min(seconds):.3f} to "
        f"{max(seconds):.3f} s (at least {least_s:.3f} s), by netem on "
        f"{', '.join(sorted(evidence.after))}; {len(evidence.beside)} ways beside it are quick"
    )


def quick(samples: Samples, meant: Impairment) -> Proof:
    """Whether half of the answers on each way come sooner than any could that is delayed."""
    if not samples:
        return HIDDEN
    if late := _late(samples, meant):
        return doubt(f"not quick: {_medians(samples, late)}")
    return proven(f"on {len(samples)} ways half of the answers come within {_quick_s(meant):g} s")


def none_left(left: Mapping[str, Impairment]) -> Proof:
    if left:
        return doubt(f"our netem is still there: {', '.join(sorted(left))}")
    return proven("no interface has our netem")


def quickest_s(meant: Impairment) -> float:
    """Return the least time that such a delay adds to a packet."""
    return meant.delay_s - meant.jitter_s


def _quick_s(meant: Impairment) -> float:
    return quickest_s(meant) / 2


def _wider(beside: Samples, absent: Proof) -> Proof | None:
    """Return a doubt if a fault is not absent from the ways between other hosts. Without such ways
    there is no doubt: a cluster of two hosts has none."""
    if absent.ok or not beside:
        return None
    return doubt(f"more is affected than was meant: {absent.doubt}")


def _unlike(evidence: PacketEvidence, meant: Impairment) -> Proof | None:
    """Return a doubt if no way to the host was measured, or if the kernel does not report, before
    and after, what was meant."""
    if not evidence.samples:
        return HIDDEN
    for found in (evidence.before, evidence.after):
        if not found:
            return doubt("no interface has our netem")
        other = sorted(name for name, one in found.items() if not _alike(one, meant))
        if other:
            reported = "; ".join(f"{name}: {found[name]}" for name in other)
            return doubt(f"our netem does something else than was meant: {reported}")
    return None


def _alike(one: Impairment, other: Impairment) -> bool:
    pairs = (
        (one.loss, other.loss),
        (one.delay_s, other.delay_s),
        (one.jitter_s, other.jitter_s),
        (one.correlation, other.correlation),
    )
    return all(isclose(*pair, rel_tol=PRECISION, abs_tol=1e-6) for pair in pairs)


def _lossy(samples: Samples, share: float) -> list[Way]:
    return [way for way, found in samples.items() if found.lost > NONE * share * found.sent]


def _late(samples: Samples, meant: Impairment) -> list[Way]:
    return [
        way
        for way, found in samples.items()
        if _mute(found) or median(found.seconds) >= _quick_s(meant)
    ]


def _mute(found: PacketSamples) -> bool:
    """A delay loses nothing: half of the requests are answered on any way that works."""
    return 2 * len(found.seconds) < found.sent or not found.seconds


def _sent(samples: Samples) -> int:
    return sum(found.sent for found in samples.values())


def _lost(samples: Samples) -> int:
    return sum(found.lost for found in samples.values())


def _dropped(found: Mapping[str, Impairment]) -> int:
    return sum(one.dropped for one in found.values())


def _counts(samples: Samples, ways: Iterable[Way] | None = None) -> str:
    chosen = samples if ways is None else ways
    return "; ".join(
        f"{' -> '.join(way)}: {samples[way].lost} of {samples[way].sent} lost" for way in chosen
    )


def _medians(samples: Samples, ways: Iterable[Way]) -> str:
    return "; ".join(
        f"{' -> '.join(way)}: {len(samples[way].seconds)} of {samples[way].sent} answered"
        + (f", half within {median(samples[way].seconds):.3f} s" if samples[way].seconds else "")
        for way in ways
    )
