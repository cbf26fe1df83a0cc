"""Every command on the tables. What a command is stands at the head of exchanges.py.

Those on queues and groups are in records.py.
"""

from reference_impl.metadata.exchanges import (
    BindExchange,
    BindQueue,
    DeclareExchange,
    DeleteExchange,
    UnbindExchange,
    UnbindQueue,
)
from reference_impl.metadata.nodes import ForgetNode
from reference_impl.metadata.policies import DeletePolicy, PutPolicy
from reference_impl.metadata.records import RecordCommand
from reference_impl.metadata.tables import Denied

__all__ = [
    "BindExchange",
    "BindQueue",
    "Command",
    "DeclareExchange",
    "DeleteExchange",
    "DeletePolicy",
    "Denied",
    "ForgetNode",
    "PutPolicy",
    "UnbindExchange",
    "UnbindQueue",
]

Command = (
    DeclareExchange
    | DeleteExchange
    | BindQueue
    | UnbindQueue
    | BindExchange
    | UnbindExchange
    | PutPolicy
    | DeletePolicy
    | ForgetNode
    | RecordCommand
)
