"""The values that a page is rendered from: a report's words and numbers, ready to be shown.

formats     numbers and times as people read them
applicable  rows of the comparison that mean something in their cell
versions    versions of brokers, clients and tools
totals      runs counted together: what failed, what was lost, how long it was out, what is proved
answers     the first screen: a headline and four answers
cells       a sentence a cell
matrix      scenarios x layouts x systems: a word and a number a cell
measures    medians and ranges over repeats, drawn to one scale
claims      every claim over all cells
faults      every fault window: asked for, done, seen; by kind and mechanism
costs       what the steady state cost, by load, system and layout
joint       runs that were played together, in one picture
runs        one run: timeline, verdicts, stories, doubts
drill       what a cell opens into: its claims, its numbers, its runs
outs        how long it was out, in words
picture     the first screen's picture: share on time over time

comparison/   several systems or layouts side by side
"""
