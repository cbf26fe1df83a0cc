"""The values that a page is rendered from: a report's words and numbers, ready to be shown.

formats     numbers and times as people read them
totals      runs counted together: what failed, what was lost, how long it was out, what is proved
outs        how long it was out, in words
answers     the first screen: a headline and four answers
picture     the first screen's picture: share on time over time
cells       a sentence a cell
matrix      scenarios x layouts x systems: a word and a number a cell
measures    medians and ranges over repeats, drawn to one scale
claims      every claim over all cells
faults      every fault window: asked for, done, seen; by kind and mechanism
costs       what the steady state cost, by load, system and layout, and place beside place
joint       runs that were played together, in one picture
runs        one run: timeline, verdicts, stories, doubts; and what a cell opens into
columns       which columns stand side by side, in which order; what cells are called
places        what is compared side by side: how to call each, its letter and its verdict
headline      what differs most between them, in one line
side_by_side  the tables of several, put together; loss by confirm level
grids         scenarios and their measures down, places across
"""
