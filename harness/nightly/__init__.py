"""Every night: play what fits into its hours, compare it with before, and report it.

suite     what a suite's file says, as items: each a cell, so often
planning  which items fit into the night, by what is new, what alarmed, age and risk
record    a night as it is kept: what was planned, played and judged; what of old nights is kept
playing   one night, item after item, on a quiet machine; it goes on where it was ended
gated     the gate's answer over the nights that are on record
message   a night's outcome as one text for a chat or a mail, and for machines that know tests
site      the folder of pages that shows all nights, with a drawing of each cell's times
"""
