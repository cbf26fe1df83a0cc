"""Sentences about broker processes: an unplanned end, and the loss of the watch."""

from spark_analysis.schema.facts import ProcessEnd


def unplanned_text(end: ProcessEnd) -> str:
    """Return the sentence for a person, during the run and afterwards."""
    back = "" if end.until_ns is None else f"; it was started again at +{end.until_ns / 1e9:.1f} s"
    head = f"{end.place} ended at +{end.at_ns / 1e9:.1f} s, unplanned"
    return f"{head}: {end.detail}{back}"


def watch_lost_text(reason: str) -> str:
    """Return the sentence for a person, during the run and afterwards."""
    return f"mqproof lost the watch of brokers' processes, so their ends are unknown: {reason}"
