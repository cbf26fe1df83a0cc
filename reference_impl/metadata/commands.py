"""Every command on the tables. What a command is stands at the head of exchanges.py.

Those on queues and groups are in records.py.
"""

import msgspec

from reference_impl.metadata.exchanges import (
    BindExchange,
    BindQueue,
    DeclareExchange,
    DeleteExchange,
    UnbindExchange,
    UnbindQueue,
)
from reference_impl.metadata.nodes import ForgetNode
from reference_impl.metadata.records import RecordCommand
from reference_impl.metadata.tables import Denied, Policy, Tables

# --- Commands on policies. The caller has validated the definition (node/policies.py) ------------


class PutPolicy(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """The result: whether there was none of that name."""

    policy: Policy

    def apply(self, tables: Tables) -> bool:
        is_new = self.policy.name not in tables.policies
        tables.policies[self.policy.name] = self.policy
        return is_new


class DeletePolicy(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """The result: whether there was one."""

    name: str

    def apply(self, tables: Tables) -> bool:
        return tables.policies.pop(self.name, None) is not None


# --- All commands --------------------------------------------------------------------------------


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
