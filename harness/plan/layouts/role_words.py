"""What users of a system call the replica of a queue that serves clients, and the other replicas.

Scenarios may use either pair of words: a schedule, its texts and its records have the system's.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from harness.plan.files.targets import Target, TargetForm, replica_word
from harness.plan.layouts.guarantees import Guarantees


class RoleWords(NamedTuple):
    """`serving`: of the replica that serves clients; `copying`: of every other one."""

    serving: str
    copying: str

    def of(self, target: Target) -> Target:
        """Return the target with these words, if it names a queue's replica."""
        words = {TargetForm.MASTER: self.serving, TargetForm.MIRROR: self.copying}
        word = words.get(target.form)
        if word is None:
            return target
        return replace(target, word=replica_word(word, target.rank, target.queue))


MASTER_AND_MIRROR = RoleWords("master", "mirror")
LEADER_AND_FOLLOWER = RoleWords("leader", "follower")


def role_words(guarantees: Guarantees) -> RoleWords:
    """Return the words of Raft if a majority elects, else those of mirrored queues."""
    return LEADER_AND_FOLLOWER if guarantees.elects_by_majority else MASTER_AND_MIRROR


def recorded_role_words(state: Mapping[str, Any]) -> RoleWords:
    """Return the words of the system of a recorded run. `state`: of its manifest."""
    by_majority = state.get("elects_by_majority") is True
    return LEADER_AND_FOLLOWER if by_majority else MASTER_AND_MIRROR
