"""The sources of duplicate deliveries: the details of `duplicated`, read by measures.py."""

from spark_analysis.schema.measure import Detail, Grade

PROVENANCES = (
    Detail("publisher_retry", Grade.HARMLESS, "sent again by its publisher"),
    Detail("diverged", Grade.VIOLATION, "by two masters at a time"),
    Detail("ambiguous", Grade.OPEN, "cannot be told"),
    Detail("stored_twice", Grade.VIOLATION, "stored twice", may_be_ambiguous=True),
    Detail(
        "redelivery_after_ack",
        Grade.VIOLATION,
        "given out again, though acknowledged",
        may_be_ambiguous=True,
    ),
    Detail("redelivery", Grade.HARMLESS, "given out again, unacknowledged", may_be_ambiguous=True),
    Detail(
        "redelivered_without_cause",
        Grade.VIOLATION,
        "given out again to the living connection that held it",
    ),
    Detail(
        "offset_rollback",
        Grade.VIOLATION,
        "given out again: the group's stored place went back",
        may_be_ambiguous=True,
    ),
)
