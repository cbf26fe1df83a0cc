"""What clients saw in a run, as facts and rows, and both judges of it.

by_hand       histories told by hand, a method an event
declared      what they declare of a healthy system
claim_names   short names of the claims that histories of queues are judged by
logs          a log by hand, right except for what a test says, and what claims say of it
sketches      histories by message, with what was declared, and what both judges and all claims say
several_faults  sketches with several faults, operations and unplanned ends
client_faults  sketches of faults that take clients and their links, and no broker
many_runs     runs by their verdicts alone, up to a night
steady_loads  a load at a steady pace, served except for what a story says
watching      what a prober saw of name servers, and when
ways          the ways of RocketMQ's family
resources     what hosts had used, second by second
conformance   the stories of tests/conformance
theirs        the same as rows, as Jepsen's EDN, as OpenChaos's file
foreign_files  files of Jepsen and OpenChaos by hand, and what must be said of each
neutral       a neutral history without a doubt, to be damaged in one place
fixed         many generated ones, always the same
both_judges   oracle and kernels without Spark, and their answers in one form
telling       what occurs in findings, as words: how rich a history is
smaller       makes a history on which two judges differ small enough to read
"""
