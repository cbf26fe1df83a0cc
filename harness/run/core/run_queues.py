"""PURE: the queues of a run: their names on the broker, and how a message comes to each group.

1. Publishers send to the queues of the workload. Consumers, drain and audit read them, too.
2. With consumer groups they read queues of their groups. In a log these are the same one, read by
   each group at its own place. Else each is a queue of its own, which gets every message through
   an exchange: publishers send to that.
3. All groups' queues of one queue are declared on one host.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.plan.distribution import groups
from harness.plan.workload import Workload


@dataclass(frozen=True, slots=True)
class RunQueues:
    """Both by the scenario's names, which differ if there are consumer groups."""

    sent_to: Mapping[str, str]
    read: Mapping[str, str]
    bindings: Mapping[
        str, Sequence[str]
    ]  # by queue that is sent to: those that its exchange feeds

    @classmethod
    def of(cls, workload: Workload, prefix: str, *, in_logs: bool) -> "RunQueues":
        """`prefix`: of every name on the broker; `in_logs`: brokers keep what was consumed."""
        sent_to = {word: f"{prefix}{word}" for word in workload.queues}
        by_group = groups(workload).values()
        own = {word: [names[word] for names in by_group] for word in sent_to}
        read = {
            name: sent_to[word] if in_logs else f"{prefix}{name}"
            for word, names in own.items()
            for name in names
        }
        return cls(sent_to, read or sent_to, own if by_group and not in_logs else {})

    @property
    def fans_out(self) -> bool:
        """Return whether publishers send to exchanges."""
        return bool(self.bindings)

    def name(self, word: str) -> str:
        """Return the broker's name of a queue that is sent to, or read."""
        return self.read.get(word) or self.sent_to[word]

    def declared_on(self, hosts: Mapping[str, str]) -> dict[str, str]:
        """Return the host that declares each queue, by the broker's name. `hosts`: by queue that
        is sent to."""
        if not self.bindings:
            return {self.sent_to[word]: host for word, host in hosts.items()}
        return {
            self.read[name]: host for word, host in hosts.items() for name in self.bindings[word]
        }

    def exchanges(self) -> dict[str, list[str]]:
        """Return the broker's names of the queues that each exchange feeds, by the scenario's name
        of what is sent to."""
        return {word: [self.read[name] for name in names] for word, names in self.bindings.items()}
