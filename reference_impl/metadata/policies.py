"""Commands on policies. The caller has validated the definition (node/policies.py)."""

import msgspec

from reference_impl.metadata.tables import Policy, Tables


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
