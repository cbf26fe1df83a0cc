"""mqproof: plan -> deploy -> run -> analyse -> judge -> report. The parts, from above:

cli, commands   the command line
nightly         a suite's nights: what fits, whether it is worse than the baseline, all pages
by_hand         clusters that people use and break themselves: their keeper, requests and runs
campaigns       many experiments that fill a matrix, and the pages published from them
pipeline        calls the stages of an experiment in turn
report          displays what was planned, done and judged; computes none of it
judging         the result of an experiment: verdicts, known results of cells, the exit code
analyse         the Spark job: turns recorded runs into marts
compare         compares many runs: cells with expectations, experiments with each other
view            prepares one run for display
claims          judges one run: evaluates each claim
cleanup         undoes faults and removes what a dead harness left behind
request         turns the options of a command into an experiment
run             a run in progress: load, faults, observations, logs
deploy          deploys clusters: in containers, on this machine, or by a topology file
systems         the declaration of each system: layouts, guarantees, answers of its brokers
cluster         the interfaces (protocols) of a running cluster, its operations, the agent
workers         the processes beside the brokers: publishers, consumers, the agent
histories       reads histories of other tools
run_folder      the files of a run: logs, tables, manifest
plan            reads and checks TOML, and plans each run before anything starts; pure
outside         reads and shows input from other programs safely; locks
"""
