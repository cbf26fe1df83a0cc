"""The kernels that judge a run over arrays: the ideas of the oracle, for millions of messages.

Columns and places:
records       the columns that kernels read of each raw table
arrays        small array operations, each linear or n log n
slots         a place in arrays for every message
cases         cases of one measure, counted and listed
groups        a run as each of several consumer groups saw it, and one run's marts

Beside verdicts:
doubts        verdicts that could not be judged, and why; how long workers stood still
costs         the cost of a run before its first fault
curves        latencies by slice, sends by producer and second
digest        affected messages for a page, in few rows
sends         failed sends under a fault, by producer
views         views of name servers over time

events/       raw rows folded into events: attempts, deliveries, acknowledgements, windows
fates/        verdicts on messages: lost, duplicated, reordered, early, late, torn
times/        verdicts on time: service, outages, recovery, starvation
"""
