"""Judgement of findings: runs by their claims, cells by expectations, and the exit code.

exits       the exit code of mqproof, and what decides it
result      the end of an experiment as values: Report, RunReport
assemble    one run's report from its findings and raw rows; cells against expectations
brought_claims  claims files of other packages
own_claims  the user's own claims: `--claims FILE`
known_facts  the facts that claims may name, those of other packages included
verdict_file  verdict.json as values: harness/report/verdict.py writes, this reads
tested_versions  the versions under test that such files name
"""
