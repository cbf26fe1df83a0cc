"""The engine: run folders in, marts out.

pipeline    the whole graph: runs judged, and compared
tasks       runs judged by Spark, many at a time, within a memory budget
compare     the marts of many runs folded into their cells
judge       one run judged: facts and records in, rows of its marts out
judging     what that consists of, and what of it waits for what
threads     that share it
kernel/     what judging is made of: arrays in, arrays out; no Spark
tables      the only place that reads run folders
columns     columns of large tables, read when they are asked for
parts       marts as files
rows        mart rows as Arrow tables
store       experiments in a store that Hadoop sees, brought by URL
hadoop      Hadoop's own shell, which reads them
session     the only place that builds a SparkSession
archive     Java's classes, kept for the next start
cache       the user's folder for what is kept
java        finds a Java that starts Spark, and wraps one that lacks a module
jvm         the options of every JVM that is started
failing     what Spark says when it fails, in a sentence
"""
