"""How many confirmed messages no consumer had received when the load ended.

1. A message counts if it was confirmed by then, and no consumer received it by then.
2. Unknown if raw rows are missing or cannot be read; for runs with delays or transactions, because
   a message that must not be delivered yet is no backlog; and with consumer groups: each of them
   has to receive every message, and here any consumer counts.
"""

from pathlib import Path
from typing import Any

import numpy as np

from harness.run_folder import rows
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.words import Outcome

_SEQUENCE_BITS = 40


def waiting(folder: Path, facts: Facts) -> int | None:
    """Return the number; None if it is 0, or unknown."""
    ended_ns = facts.load_ended_ns
    if facts.consumer_groups:
        return None
    try:
        if rows.count(folder, "terms"):
            return None
        is_confirm = rows.field("outcome") == Outcome.CONFIRMED.value
        confirmed = _messages(
            folder, "settlements", is_confirm & (rows.field("settled_ns") <= ended_ns)
        )
        by_load = rows.field("via").isin(facts.way_numbers.load)
        delivered = _messages(
            folder, "deliveries", by_load & (rows.field("received_ns") <= ended_ns)
        )
    except rows.Unreadable:
        return None
    return np.setdiff1d(confirmed, delivered).size or None


def _messages(folder: Path, table: str, where: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the messages of these rows, each as one number; those of the harness left out."""
    found = rows.batches(
        folder, table, ["producer", "sequence"], where & (rows.field("producer") >= 0)
    )
    keys = [
        (np.asarray(one["producer"], np.int64) << _SEQUENCE_BITS) | np.asarray(one["sequence"])
        for one in found
    ]
    return np.concatenate(keys) if keys else np.empty(0, np.int64)
