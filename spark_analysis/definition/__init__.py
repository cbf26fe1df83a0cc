"""The plain definition of every verdict: a fold over events, in the order of schema/findings.py.

events -> messages, then one module an idea: outcomes, loss, delays, transactions, strays,
duplicates, order, operations give the cases that `cases` counts; seconds, availability, stages
(sustained, backlog), doubts give a mart each. windows says what time belongs to a window.
`judge.judge` is the way in. Beside it, `costs.costs` tells what a run cost (schema/costs.py): it
decides no verdict. No more does `views.views`: what name servers showed, and when
(schema/views.py).
"""
