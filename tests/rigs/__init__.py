"""What tests stand on: rigs by what they stand in for, a folder each.

brokers/    brokers, without a broker
rocketmq/   RocketMQ's servers: real ones as plain processes, and two kinds of fakes
clusters/   clusters: in memory, of stand-ins, of somebody else
workers/    workers, and their starters
histories/  what clients saw, told by hand or read, and who judges it
generated/  random histories
defects/    healthy histories, and broken brokers made of them
relations/  changes of histories, and what they may do to verdicts
runs/       plans, run folders, judged runs and reports
inputs/     what people hand in
pages/      pages of the documentation that are made of what the product declares
spark/      Spark's own servers
machine/    the machine: its time, disks and processes
suite/      the test suite itself: workers, markers, tiers

A rig that one folder of tests alone needs stands in that folder: the reference's simulated nodes
(tests/reference_impl), the proxy between two sockets (tests/contract), Docker's clusters
(tests/docker).
"""
