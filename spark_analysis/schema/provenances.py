"""Duplicate deliveries and their causes, the details of `duplicated`; read by measures.py."""

from spark_analysis.schema.measure import Detail, Grade, Measure, Unit, Whole, stops

PROVENANCES = (
    Detail("publisher_retry", Grade.HARMLESS, "sent again by its publisher"),
    Detail("diverged", Grade.VIOLATION, "by two masters at a time"),
    Detail(
        "ambiguous",
        Grade.OPEN,
        "cause not decided",
        meaning="no record shows the cause: for example, the client acknowledged around the "
        "beginning of a fault, and perhaps the broker never got the acknowledgement",
    ),
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

DUPLICATED = Measure(
    name="duplicated",
    instant="delivered again",
    attributed=True,
    grade=Grade.HARMLESS,
    unit=Unit.DELIVERIES,
    part_of=Whole.DELIVERIES,
    title="Delivered more than once",
    seen="duplicates",
    meaning="all duplicate deliveries, whatever their cause",
    stopped_by=stops("loss", "consumer_log", "publisher_log"),
    details=PROVENANCES,
    claimed="duplicate deliveries",
    always_shown=True,
    raised_by=("unrecorded",),
    story="was delivered again at {at}, attempt {attempt} ({detail})",
)
