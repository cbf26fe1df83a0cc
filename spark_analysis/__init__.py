"""Verdicts on runs: what they are made of, twice, and what they are told in.

engine      the judge that is used: numpy kernels over whole runs, spread and folded by Spark
definition  the plain definition of every verdict; it and the engine never see each other
schema      what both read and answer: raw tables, facts, marts, the register of measures
"""
