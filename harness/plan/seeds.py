"""Named streams of chance: the only place that makes a random source.

1. One root seed an experiment; a stream a purpose, so that one more draw here moves none there.
"""

import hashlib
from random import Random


def derive(seed: int, *labels: str) -> int:
    """A 63-bit number fixed by (seed, labels) and by nothing else."""
    assert labels, "an unlabelled stream would be shared by accident"
    digest = hashlib.sha256("/".join([str(seed), *labels]).encode()).digest()
    return int.from_bytes(digest[:8]) >> 1


def stream(seed: int, *labels: str) -> Random:
    """Choices for one purpose, fixed by (seed, labels) and by nothing else."""
    return Random(derive(seed, *labels))
