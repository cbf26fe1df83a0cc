"""From recorded runs to what is found in them: the Spark job, and what is found without Spark.

Nothing else of the harness sees the engine. What is made of findings stands beside it: claims/
judges a run, compare/ many of them, view/ shows one.

sessions    Spark sessions: one started early, one that brings experiments from a store
judged_run  one run with what was found of it
marts       seals runs, has all of them judged in one Spark session, reads the marts
history     a history of somebody else's, judged as one of ours: kernels alone, no Spark
attendance  when consumers of such a history could receive nothing, by their own doing
questions   the options of the analysis beside the recorded facts
operated    what clients saw in the end, and while an operator was at work: from raw rows
routed      whether name servers told clients the way during a fault: from raw rows
exactness   whether exactly that was found what a misbehaving cluster admits
admitted    the truth logs of its nodes
seen        what its clients recorded, by attempt
"""
