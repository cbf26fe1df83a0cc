"""Executors, which carry actions out, and witnesses, which observe their effects.

compose            carries out on a compose project: the engine's calls, a helper, the agent
compose_witness    looks at one
local              carries out on subprocesses of this machine: signals, starts, stalls
local_witness      looks at them, and at hosts that are not ours
external           carries out on a cluster that is not ours
nothing            does nothing: with it, no run may be verified
core/              commands and packets as text and octets, and how replies to them are read

ports              the calls to the agent beside the brokers
once               the agent's calls when no agent runs: one process a call
canaries           connections of our own on clients' links
listeners          the proxy's listeners, as it lists them
service_ports      the ports of processes, and the words for them
toxics             operations on links, through the agent
project            the containers of one compose project, found by labels
echoes             echo requests from one host to another: a program of its own
local_processes    the processes of clusters, found by what their environment says
commands           a user's own commands, one at a time a host
"""
