"""Every night: play what fits into its hours, compare it with before, and report it.

suite     what a suite's file says, as items: each a cell, so often
planning  which items fit into the night, by what is new, what alarmed, age and risk
quiet     whether anything else is busy on this machine
record    a night as it is kept: what was planned, played and judged
playing   one night, item after item; it goes on where it was ended
gated     the gate's answer over the nights that are on record
keeping   what of old nights is kept
message   a night's outcome as one text for a chat or a mail
junit     the same for machines that know tests
trend     how a cell's times and verdicts went over the nights, as drawings
site      the folder of pages that shows all nights
"""
