"""mqproof: plan -> deploy -> run -> analyse -> judge -> report. The stages, from above:

cli, commands   the command line
nightly         every night: what fits, what is worse than before, pages of all nights
by_hand         clusters that people use, and break by hand
pipeline        the stages one after another, as a command asks for them
report          tells what was planned, done and judged; it only tells
judging         an experiment's end: verdicts, what is known of cells, and the exit code
analyse         the Spark job: recorded runs in, facts and findings out
compare         cells against what is known, experiments against each other
view            one run as a reader sees it
claims          the claims engine: what was promised, and whether it held
cleanup         what mends and removes what a dead harness has left
request         from a command line's words to an experiment
run             a run while it goes on: load, faults, looks, logs
deploy          clusters: in containers, on this machine, or those of others
systems         what brokers are, promise and answer: a folder a family
cluster         what a cluster is to all others: its ports, orders, the agent
workers         publishers, consumers and the agent: processes of their own
histories       histories of anybody's
run_folder      what lies in a run's folder
plan            what a run is, decided before anything starts; pure
outside         what others wrote, read and shown without harm
"""
