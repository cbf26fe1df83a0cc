"""The oracle: every verdict in plain Python, as a fold over events. Pure.

Its order is that of spark_analysis/schema/findings.py.

events -> messages, with a try for each attempt; then one module per idea.
- Of messages: outcomes, loss, attempts, not_redelivered, misrouted, delays, transactions
  (check_backs), strays, duplicates (progress), order and publishes give the cases. `cases` counts
  them and `attributions` attributes them to faults. arrivals gives the time at which a message
  should have come, open_ends why its fate is unknown, channels what we acknowledged, unrest when a
  queue may have changed its leader.
- Of time: scopes -> stretches -> outages (recovered_by) are the history of the run, each queue and
  each publisher. promised, exposure, consumption and stages (sustained, backlog) read it for each
  fault (forces), and seconds and availability report it. starvation is the consumers' side of the
  steady state, withheld the wait of each message.
- digest prepares cases for a page, in few rows, and curves prepares its charts.
- groups judges a run with several consumer groups, group by group.
- doubts (stalls, causality, absences) lists what could not be judged. windows gives the judged
  time of each window.

`judge.judge` is the entry point. Three more decide no verdict: `costs.costs` for the cost of a run
(schema/costs.py), `views.views` for what name servers showed (schema/views.py), `sends.sends` for
failed sends (schema/sends.py). `comparison` folds cells over their runs.
"""
