"""Verdicts on runs: the judge in use, and the schema of what it reads and writes.

A second, independent implementation in plain Python, the oracle, lies with the tests
(tests/oracle): the two never import each other.

engine  the judge in use: numpy kernels over whole runs, distributed and folded by Spark
files   logs, seals, and files that are read and written safely
schema  the input and output of both: raw tables, facts, marts, the register of measures; pure
"""
