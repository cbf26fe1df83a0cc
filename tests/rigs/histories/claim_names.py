"""Claims that hand-made histories of queues are judged by, under short names; several of one sort
in one text."""

# In the steady state, and after a fault.
STEADY, CONSUMED = "available-in-steady-state", "consumed-in-steady-state"
AFTER, CONSUMED_AFTER = "available-after-fault", "consumed-after-fault"
OTHERS = "others-are-served-while-a-client-is-gone"
# Of messages.
DELIVERED, COPY = "confirmed-is-delivered", "confirmed-copy-is-kept"
FIFO, REFUSED = "queue-is-first-in-first-out", "refused-stays-refused"
ACKED, ONE_COPY = "acknowledged-is-not-redelivered", "one-copy"
HELD, UNACKED = "held-is-not-redelivered", "unacknowledged-is-redelivered"
MISROUTED, UNEXPECTED, CORRUPT = "nothing-misrouted", "nothing-unexpected", "nothing-corrupt"
IN_SYNC = "in-sync-is-not-lost"
# Of delays and transactions.
EARLY, OVERDUE = "nothing-early", "nothing-overdue"
ROLLED_BACK, TORN = "rolled-back-stays-unseen", "no-transaction-torn"
CHECKED = "open-transaction-is-checked"
# Of masters and mirrors.
TAKEN_OVER, WORKS_ON = "mirror-takes-over", "mirrored-queue-works-on"
HOSTS, ELECTION = "host-list-fails-over", "election-loses-nothing"
REQUEUED, ANY_NODE = "duplicates-are-requeued", "any-node-reaches-any-queue"
OF_MIRRORS = f"confirmed-is-on-all-mirrors {ELECTION} {WORKS_ON}"
SERVED = f"{TAKEN_OVER} {WORKS_ON}"
OF_ONE_NODE = f"{SERVED} {ELECTION}"
# Of majorities.
KEEPS, ELECTED = "majority-keeps-what-was-confirmed", "follower-is-elected"
DOWN = "majority-down-is-down"
# Of brokers that run short.
MEMORY = "memory-alarm-blocks-publishers"
# Of logs, and warnings of losses.
AT_OFFSET = "reading-begins-at-the-offset"
UNFLUSHED, UNSYNCHRONISED = (
    "streams-may-lose-what-was-not-flushed",
    "unsynchronised-messages-are-lost",
)
NO_ACK_LOSES = "no-ack-loses"
