"""What is to be run, as values: experiments, scenarios, layouts and clients.

bound              `--bound SHARE`: how many runs show a violation in that share of them
brought_facts      facts of packages: what is wrong with their declarations, and with values
declared           what a plan declares of a run: facts, and words that are ignored
distribution       which queues each publisher and each consumer of a workload serves
experiment         scenarios x systems x layouts x clients x repeats, with one seed
facts              a fact: type, label and meaning; those of plans and operations
fault_properties   what the analysis needs to know of a fault's kind
fault_words        what a fault does and to what, as people read it
misbehave          `--misbehave KIND[:SHARE]`: a defect that nodes get on purpose
model              what a run is, as frozen values: what every harness stage derives from
one_fault          a fault that somebody injects by hand
operation_options  what a scenario may say of an operation in addition to kind, target and time
operations         operations and their targets as data: what an operator does, and where
problems           what is wrong with a plan: every problem at once, each with its place
schedule           the schedule of one run: a scenario's lengths, resolved with its layout's timer
seeds              named streams of chance: the only place that makes a random source
vocabulary         the facts that claims may speak of, by name
workload           the load of a scenario: who sends what, where, and how its clients behave

clients/           client libraries, as they are declared
files/             what people write: TOML files, read to values or to every problem in them
checks/            whether a plan means anything on a layout: the reasons why not
layouts/           what a layout and its servers are, as values: hosts, versions, ports, guarantees
"""
