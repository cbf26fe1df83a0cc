"""The rules of a member that can be switched off, one at a time, to see what each prevents."""

from enum import StrEnum


class Rule(StrEnum):
    REMEMBER_VOTE = "remember-vote"  # term and vote survive the end of the process
    COMPLETE_LOG = "complete-log"  # no vote for a log that is behind the own one
    MAJORITY = "majority"  # an entry is committed when a majority has it
    OWN_TERM = "own-term"  # what earlier terms left is committed with an entry of the own term
    COMPARE = "compare"  # a follower compares an entry, and not its index alone
    FENCE = "fence"  # a follower takes nothing from the leader of an earlier term
    KEEP_MATCHED = "keep-matched"  # what matched in this term is not cut in it
    STEP_DOWN = "step-down"  # a leader without a majority becomes a candidate
    GIVE_WAY = "give-way"  # a leader gives way to a member in a later term
    FLUSH_FIRST = "flush-first"  # with SYNC_FLUSH: on the disk before it counts
