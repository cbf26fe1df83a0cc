"""Verdicts on runs: two independent implementations and their shared schema.

engine      the judge in use: numpy kernels over whole runs, distributed and folded by Spark
definition  the plain definition of every verdict; it and the engine never import each other
schema      the input and output of both: raw tables, facts, marts, the register of measures
"""
