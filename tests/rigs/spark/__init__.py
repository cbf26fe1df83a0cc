"""Spark's own servers as processes of this machine.

standalone  a master and workers, on loopback alone
"""
