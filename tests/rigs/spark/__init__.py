"""Spark's own servers, and Hadoop's, as processes of this machine.

standalone  a master and workers, on loopback alone
hdfs        a name node and a data node of Hadoop's, with what lies there
"""
