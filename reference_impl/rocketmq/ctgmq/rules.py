"""The rules of replicas and control nodes that can be switched off, one at a time, to see what
each prevents."""

from enum import StrEnum


class ReplicaRule(StrEnum):
    # Leases
    QUORUM_LEASE = "quorum-lease"  # a control node grants what a majority backs, and no more
    LEASE = "lease"  # a master without a lease takes and acknowledges nothing
    LEASE_ON_ACK = "lease-on-ack"  # the lease is looked at before each acknowledgement, too
    CONFIRMED_ROLE = "confirmed-role"  # a broker that starts waits for its role
    # The SyncStateSet
    COMMIT_SHRINK = "commit-shrink"  # a member counts until its removal is committed
    UNION = "union"  # a member counts from the moment when it is proposed
    JOIN_CAUGHT_UP = "join-caught-up"  # who is behind what is confirmed is not proposed
    OUT_BEHIND = "out-behind"  # who is connected and acknowledges nothing is taken out
    HYSTERESIS = "hysteresis"  # only who is behind for some time is taken out
    MIN_IN_SYNC = "min-in-sync"  # fewer members than configured acknowledge nothing
    # Elections
    IN_SET = "in-set"  # only a member of the committed set is elected
    GRACE = "grace"  # a new control node waits before it takes anybody for dead
    HANDOVER = "handover"  # a master that stops in order is replaced at once
    CHECK_CODE = "check-code"  # a name belongs to the store that took it first
    # Logs
    ACK_EPOCH = "ack-epoch"  # acknowledgements of another epoch count nothing
    FENCE_STATE = (
        "fence-state"  # what a control node said later is not undone by what it said before
    )
    BOUNDARY = "boundary"  # a new master drops the part of a message at its end
    ASK_FIRST = "ask-first"  # nothing is cut before a control node says that there was a switch
    # Clients
    READ_CONFIRMED = "read-confirmed"  # readers see what every member has
    ERROR_CODES = "error-codes"  # what was not acknowledged is answered as an error, not as 12
