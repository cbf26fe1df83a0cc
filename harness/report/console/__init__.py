"""What a person reads on a terminal.

terminal     the display: all that follows, in its order
steps        one step at a time, with what it takes
rates        live views of a run, out of looks at its counts
live_panel   a live view, drawn
strip_rows   its seconds as rows of blocks
tables       claims by cells, and the comparison
overview     one line a cell, where there are hundreds
demo_table   what the demo showed
"""
