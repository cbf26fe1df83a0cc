"""A generator of broken brokers (docs/verdicts.md 16).

1. A defect rewrites the rows of a healthy history as a broken broker would have made them.
2. A harmless change moves no verdict.

runs            one history that a defect can rewrite
healthy         small histories that keep every judged promise
packed          packed runs of published results as histories
kinds           one kind of defect
chosen          what defects have in common: which messages they strike
of_loss         messages that are lost, or kept where no client looks
of_copies       messages that come more often than they may
of_content      unsent, refused and mistimed messages
of_service      outages towards publishers
of_consumption  messages that wait without need
of_order        broken order, and records of what cannot have happened
grouped         two consumer groups; each got what the consumers of one run got
harmless        other clocks, names and orders of rows
measure         which claims catch which defect
table           the table of the page
"""
