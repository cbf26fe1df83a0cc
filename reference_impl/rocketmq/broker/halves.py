"""Halves of transactions (docs/behaviour/rocketmq.md 4.5): what becomes of one that is decided."""

import msgspec

from reference_impl.rocketmq.store import properties
from reference_impl.rocketmq.store.properties import IN_TRANSACTION, REAL_QUEUE, REAL_TOPIC
from reference_impl.rocketmq.store.records import COMMITTED, TRANSACTION_BITS, Draft, Record


def draft_of(record: Record) -> Draft:
    return Draft(**{name: getattr(record, name) for name in Draft.__struct_fields__})


def decided(half: Draft, position: int) -> Draft:
    """As its consumers get it. `position`: of the half in the log."""
    props = half.properties
    topic, queue = props.pop(REAL_TOPIC, ""), int(props.pop(REAL_QUEUE, "0"))
    props.pop(IN_TRANSACTION, None)
    return msgspec.structs.replace(
        half,
        topic=topic,
        queue=queue,
        sys_flag=half.sys_flag & ~TRANSACTION_BITS | COMMITTED,
        props_text=properties.write(props),
        prepared=position,
    )
