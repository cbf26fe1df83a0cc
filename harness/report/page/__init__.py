"""The values that a page is rendered from: a report's words and numbers, ready to be shown.

words     numbers and times as people read them
tally     runs counted together: what failed, what was lost, how long it was out, what is proved
answers   the first screen: a headline and four answers
cells     a sentence a cell, and the matrix of scenarios x systems
measures  medians and ranges over repeats, drawn to one scale
claims    every claim over all cells
runs      one run: timeline, verdicts, stories, doubts
"""
