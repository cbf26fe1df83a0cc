"""Several systems or layouts beside each other: what the page shows of them before any cell.

places            what is compared, each with a letter and its verdict
naming            what to call a column
headline          what differs most, in one line
side_by_side      the tables, put together
grids             scenarios and their measures down, places across
loss_by_strength  loss by acknowledgement level
costs             what the steady state cost
timers            the timers of a place, in words
"""
