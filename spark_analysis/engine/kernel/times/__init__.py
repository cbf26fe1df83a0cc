"""Verdicts on time: service, outages, recovery, starvation.

availability  missed publishes and silence, by second, window and queue
consumption   whether consumers went on after each fault
outages       when each scope was out, and the cause of the end
recovered_by  whether a system took over by itself
service       service of each scope, by each promise
stages        how long recovery took, and until when messages waited too long
starvation    how long queues delivered nothing though something was ready
stretches     due publishes of each scope, and its good stretches
withheld      how long messages were withheld though consumers had capacity
"""
