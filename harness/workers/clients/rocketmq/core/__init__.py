"""PURE: what clients of RocketMQ answer and mean.

wire          what the Java side reports, as values
answers       what an answer means: the outcome and strength of one attempt
likeness      what versions of the Java client differ in when a server hangs
sharing       which queues are a member's own
transactions  what becomes of halves
"""
