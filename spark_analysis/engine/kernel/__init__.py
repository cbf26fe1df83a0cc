"""The kernels that judge a run over arrays: the ideas of the oracle, for millions of messages.

Columns and places:
records       the columns that kernels read of each raw table
arrays        small array operations, each linear or n log n
slots         a place in arrays for every message
cases         cases of one measure, counted and listed

Events:
messages      attempts and settlements, folded into one slot a message
arrivals      deliveries in their order, and what each identifies
acknowledged  when deliveries were acknowledged, and when their connections ended
publishes     intended publishes, and whether each was confirmed in time
terms         when each attempt is due, and the fate of its transaction
windows       the judged time of each fault window, and the steady state before the first

Verdicts on messages:
loss          messages that were not delivered, and those of unknown fate
attempts      confirmed and nowhere, or refused and came
not_redelivered  never acknowledged and not redelivered
duplicates    sources of duplicate deliveries
progress      what a group's stored progress had passed when a log was read again
order         whether messages of one producer and key came as they were sent
delays        before their time, or much later
transactions  rolled back and seen, or committed by half
check_backs   transactions that the broker should have checked
unseen        places that may hold a message that was not seen
attributions  which fault windows may have caused it

Verdicts on time:
service       service of each scope, by each promise
stretches     due publishes of each scope, and its good stretches
outages       when each scope was out, and the cause of the end
recovered_by  whether a system took over by itself
consumption   whether consumers went on after each fault
stages        how long recovery took, and until when messages waited too long
availability  missed publishes and silence, by second, window and queue
starvation    how long queues delivered nothing though something was ready
withheld      how long messages were withheld though consumers had capacity

Beside verdicts:
doubts        verdicts that could not be judged, and why; how long workers stood still
costs         the cost of a run before its first fault
curves        latencies by slice, sends by producer and second
digest        affected messages for a page, in few rows
sends         failed sends under a fault, by producer
views         views of name servers over time
"""
