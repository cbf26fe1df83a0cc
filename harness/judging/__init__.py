"""What was found, judged: runs by their claims, cells by what is known, and the exit code.

exits       what mqproof ends with, and what decides it
result      an experiment's end as values: Report, RunReport
assemble    one run's report out of what the analysis found; cells against what is known
foreign     a history of anybody's, judged as our own runs are
recalled    verdict.json read again, to hold two experiments against each other
"""
