"""PURE: what a layout of mirrored queues says: its file, and its guarantees.

1. What stands in files of all nodes is the nodes' (layouts.py); here are copies, their
   synchronisation, and the policies that must say the same.
2. Guarantees are those of RabbitMQ, and of the reference. A confirm of a persistent message waits
   for every mirror, and for the disk of each.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from harness.outside.text import brief
from harness.plan.files.toml_problems import TomlProblem
from harness.plan.layouts.guarantees import BROKERS, Guarantees, NotApplicable
from harness.plan.layouts.layout_values import Policy
from harness.plan.model import Layout
from harness.systems.layout_parts import HOSTS_MAX, AsList
from harness.systems.rabbitmq.core.layouts import (
    IMAGE_HELP,
    ImageName,
    NodesLayoutFile,
    Version,
)
from harness.systems.rabbitmq.core.policies import PolicyTable, mirrored, policy_problems
from harness.systems.rabbitmq.core.versions import DEFAULT
from harness.systems.rabbitmq.foreign.core.own import own
from spark_analysis.schema.words import Strength


class MirroredLayoutFile(NodesLayoutFile):
    """One layout file of mirrored queues: RabbitMQ's, or the reference's."""

    copies: Annotated[int, Field(ge=1, le=HOSTS_MAX)] = Field(
        description="replicas of a queue, as the policies have it"
    )
    synchronise: Literal["automatic", "manual", "none"] = Field(
        description="how mirrors get older messages, as the policies have it"
    )
    policies: Annotated[tuple[PolicyTable, ...], Field(max_length=HOSTS_MAX), AsList] = Field(
        default=(), description="the policies that the cluster starts with"
    )

    def layout(self, system: str, profile: str) -> Layout:
        policies = tuple(
            Policy(policy.name, policy.pattern, tuple(policy.definition.items()))
            for policy in self.policies
        )
        return self.of_queues(system, profile, self.copies, self.synchronise, policies)

    def problems(self, processes: tuple[str, ...]) -> Iterator[TomlProblem]:
        yield from super().problems(processes)
        alone = list(policy_problems(self.policies))
        yield from alone
        if self.cluster and self.whole and not alone:
            yield from self._against_policies()

    def _against_policies(self) -> Iterator[TomlProblem]:
        """Only what is right by itself is compared."""
        governing = [
            (place, policy) for place, policy in enumerate(self.policies) if policy.governs
        ]
        if len(governing) > 1:
            place, _ = governing[-1]
            text = (
                "a second policy matches the queues of runs, and its rank is undefined; keep one"
            )
            yield TomlProblem(("policies", place, "pattern"), text)
            return
        found = mirrored(governing[0][1] if governing else None, len(self.cluster))
        if self.copies is not None and self.copies != found.copies:
            text = f"copies = {self.copies}, but {found.why}: {found.copies}"
            yield TomlProblem(("copies",), text, (str(found.copies),))
        synchronise = self.given.get("synchronise")
        if isinstance(synchronise, str) and synchronise != found.synchronise:
            text = f"synchronise = {brief(synchronise)}, but {found.why}: {found.synchronise!r}"
            yield TomlProblem(("synchronise",), text, (found.synchronise,))


class RabbitLayoutFile(MirroredLayoutFile):
    """One layout file of RabbitMQ's."""

    version: Version = Field(default=DEFAULT, description="version of the brokers")
    image: ImageName | None = Field(default=None, title="name of an image", description=IMAGE_HELP)

    def layout(self, system: str, profile: str) -> Layout:
        made = super().layout(system, profile)
        version = "" if self.version == DEFAULT else self.version
        return replace(made, version=version, image=self.image or "")


REPLICATED = (
    "the master had the message, and so had every mirror that the queue had at that time, if any; "
    "on disk if the message is persistent and the queue durable"
)


def mirrored_guarantees(layout: Layout) -> Guarantees:
    replicated = Strength.REPLICATED if (layout.copies or 1) > 1 else None
    return Guarantees(
        masters=1,
        **_of_policies(layout),
        elects=True,  # whatever policies say
        elects_by_majority=False,
        route_poll_s=NotApplicable("clients of this system use no name server"),
        confirm_waits_for_mirrors=True,
        confirm_waits_for_majority=False,
        confirm_waits_for_disk=True,
        checks_within_s=NotApplicable("its brokers ask about no transaction"),
        progress_kept_by=BROKERS,
        strength=replicated or Strength.STORED,
        strength_of_transient=replicated or Strength.BUFFERED,
    )


def _of_policies(layout: Layout) -> dict[str, str | None]:
    """Return what the policy of runs' queues promises; None: unknown, because an external
    cluster's file does not declare it."""
    if layout.topology is not None:
        declared = own(layout.topology)
        return {
            "mirrored_on": declared.mirrored_on or None,
            "promote_on_shutdown": declared.promote_on_shutdown or None,
            "promote_on_failure": declared.promote_on_failure or None,
        }
    return {
        "mirrored_on": _policy(layout, "ha-mode", "none"),
        "promote_on_shutdown": _policy(layout, "ha-promote-on-shutdown", "when-synced"),
        "promote_on_failure": _policy(layout, "ha-promote-on-failure", "always"),
    }


def _policy(layout: Layout, key: str, default: str) -> str:
    """What the layout's policies say; a broker that says nothing keeps to its default."""
    values = [
        str(value) for policy in layout.policies for k, value in policy.definition if k == key
    ]
    return values[-1] if values else default
