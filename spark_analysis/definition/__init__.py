"""The plain definition of every verdict: a fold over events, in the order of schema/findings.py.

events -> messages, with a try for each attempt; then one module an idea.
- Of messages: outcomes, loss, attempts, forgotten, misrouted, delays, transactions (asking),
  strays, duplicates (progress), order and publishes give the cases that `cases` counts and
  `charges` charges to faults. arrivals says when something should have come, open_ends why nobody
  knows, channels what we acknowledged, unrest when a queue may have changed its master.
- Of time: scopes -> stretches -> outages (owed) are the history of the run, each queue and each
  publisher; promised, exposure, consumption and stages (sustained, backlog) ask it for each fault
  (forces), seconds and availability tell of it; starvation is the consumers' side of calm times.
- digest is what a page needs of cases, in few rows, curves what it draws.
- doubts (stalls, causality, absences) says what could not be judged. windows: what time belongs to
  a window.
`judge.judge` is the way in. Beside it, `costs.costs` tells what a run cost (schema/costs.py): it
decides no verdict. No more do `views.views`, what name servers showed, and when
(schema/views.py), and `sends.sends`, whose sends failed, and until when (schema/sends.py).
`comparison` folds cells over their runs.
"""
