"""Every night: play what fits into its hours, compare it with before, and report it.

suite     what a suite's file says, as items: each a cell, so often
record    a night as it is kept: what was planned, played and judged; what of old nights is kept
playing   one night: which items fit into it, and item after item, on a quiet machine; it goes on
          where it was ended
message   the gate's answer over the nights on record, and a night's outcome as one text for a chat
          or a mail, and for machines that know tests
site      the folder of pages that shows all nights, with a drawing of each cell's times
"""
