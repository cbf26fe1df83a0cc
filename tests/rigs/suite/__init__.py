"""The test suite itself: which worker runs a test, what its markers promise, what a run reports.

imports    which worker imports a test module first
lanes      which tests share a worker, and which workers compute
promises   the marker `slow`: a test that bears it starts something or takes its time
shares     the part of a night's numbers that one test plays
tiers      tests and seconds by tier, and tests that passed only on a repetition
"""
