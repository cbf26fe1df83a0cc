"""Random histories, and the parts that they consist of.

histories  whole runs, full of everything that may go wrong at once
styles     what kinds of runs there are: chosen by Hypothesis
facts      the facts of a run, and its dice
rows       a teller of small tales: messages, and all that happens to them
tales      tales of what a broker promises from end to end
lines      tales of order and logs
holds      faults that hold operations back, or nearly
notes      what the harness notes of fault windows
terms      delays, transactions, halves, clocks, quiet queues
looks      looks at name servers
spells     long runs whose service comes and goes
pace       when the operations of a long run are intended
plans      what a fault does to the service of a long run
stalls     lateness just above, or just below, the limit
"""
