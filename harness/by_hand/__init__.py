"""Clusters by hand: they run until somebody takes them down, and people break them.

choosing   the words of `mqproof up` become layouts
keeper     the process that runs the clusters, holds their faults, and answers requests
serving    the requests that the keeper answers
starting   starts the clusters, and opens the ports that people reach
local      clusters of subprocesses
beside     clusters side by side in one Compose project
injecting  one fault on one of the clusters, from its injection to its verified end
runs       the run that uses one of the clusters, and what it leaves behind
meant      which cluster a fault means
requests   the side of the command line: starts a keeper, sends it requests
"""
