"""The unplanned end of a broker process, in a sentence."""

from spark_analysis.schema.facts import ProcessEnd


def unplanned_text(end: ProcessEnd) -> str:
    """Return the sentence for a person, during the run and afterwards."""
    back = "" if end.until_ns is None else f"; it was started again at +{end.until_ns / 1e9:.1f} s"
    head = f"{end.place} ended at +{end.at_ns / 1e9:.1f} s, unplanned"
    return f"{head}: {end.detail}{back}"
