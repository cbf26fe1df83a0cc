"""Judgement of findings: runs by their claims, cells by expectations, and the exit code.

exits       the exit code of mqproof, and what decides it
result      the end of an experiment as values: Report, RunReport
assemble    one run's report from its findings; cells against expectations
raw_reading  facts that need raw rows, read once
brought_claims  claims files of other packages
foreign     a history from another tool, judged as our own runs are
verdict_file  verdict.json as values: written by harness/report/verdict.py, read here
recalled    what those files say, for comparison of two experiments
"""
