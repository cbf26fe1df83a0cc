"""The causes of duplicate deliveries: the details of `duplicated`, read by measures.py."""

from spark_analysis.schema.measure import Detail, Grade

PROVENANCES = (
    Detail("publisher_retry", Grade.HARMLESS, "sent again by its publisher"),
    Detail("diverged", Grade.VIOLATION, "by two masters at a time"),
    Detail("ambiguous", Grade.OPEN, "cause not decided"),
    Detail("stored_twice", Grade.VIOLATION, "stored twice", may_be_ambiguous=True),
    Detail(
        "redelivery_after_ack",
        Grade.VIOLATION,
        "redelivered, though acknowledged",
        may_be_ambiguous=True,
    ),
    Detail(
        "redelivery",
        Grade.HARMLESS,
        "redelivered, unacknowledged or its offset perhaps not committed",
        may_be_ambiguous=True,
    ),
    Detail(
        "redelivered_without_cause",
        Grade.VIOLATION,
        "redelivered to the live connection that held it",
    ),
    Detail(
        "offset_rollback",
        Grade.VIOLATION,
        "redelivered: the group's stored offset went back",
        may_be_ambiguous=True,
    ),
)
