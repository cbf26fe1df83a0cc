"""One session for all tests; Spark's own servers, and Hadoop's, as processes of this machine.

shared      the session that all tests of a worker use
standalone  a master and workers, on loopback alone
hdfs        a name node and a data node of Hadoop's, with what lies there
"""
