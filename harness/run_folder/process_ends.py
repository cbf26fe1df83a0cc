"""A broker's process that ended though nobody had planned it, in a sentence."""

from spark_analysis.schema.facts import ProcessEnd


def end_told(end: ProcessEnd) -> str:
    """For a person, while the run goes on and afterwards."""
    back = "" if end.until_ns is None else f"; it was started again at +{end.until_ns / 1e9:.1f} s"
    head = f"{end.place} ended at +{end.at_ns / 1e9:.1f} s, and nobody had planned it"
    return f"{head}: {end.detail}{back}"
