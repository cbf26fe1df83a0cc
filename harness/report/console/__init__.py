"""What a person reads on a terminal.

terminal     the display: all that follows, in its order; one line a cell, where there are hundreds
live_panel   a live view, drawn: its seconds as rows of blocks
tables       claims by cells, and the comparison; what has one reason stands once
demo_table   what the demo showed
"""
