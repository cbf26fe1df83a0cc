"""What judging a run is made of, over arrays: the ideas of definition/ once more, for millions.

Columns and places:
records       the columns that kernels read of each raw table
arrays        small array operations, each linear or n log n
runs          places that are set, as the runs that they make
slots         a place in arrays for every message
cases         what was found: cases of one measure, counted and listed

What happened:
messages      attempts and settlements, folded into one slot a message
arrivals      deliveries in their order, and what each identifies
acknowledged  when deliveries were acknowledged, and when their connections ended
publishes     what was intended when, and whether it was confirmed in time
terms         when each attempt is due, and what is to become of its transaction
windows       the judged time of each fault window, and the calm before the first

Verdicts on messages:
loss          what was not delivered, and what nobody knew about
attempts      confirmed and nowhere, or refused and came
forgotten     given out, never acknowledged, never come again
duplicates    where surplus deliveries came from
progress      what a group's stored place had passed when a log was read again
order         whether messages of one producer and key came as they were sent
delays        before their time, or much later
transactions  rolled back and seen, or committed by half
asking        transactions that the broker should have asked about
unseen        where what is nowhere to be seen may still be
charges       which fault windows may have caused it

Verdicts on time:
service       who was served, when, by each promise
stretches     what was due in each scope, and how it went
outages       when each scope was out, and what ended that
owed          whether a system took over by itself
consumption   whether consumers went on after each fault
stages        how long it took to come back
sustained     when sending went well for long enough
backlog       which messages waited too long, and when they were through
availability  what was missed, by second, window and queue
starvation    how long queues gave nothing though something was ready

Beside verdicts:
doubts        what could not be judged, and why
stalls        how much of each window a worker stood still
costs         what a run cost before its first fault
curves        latencies by slice, sends by producer and second
digest        what a page needs of affected messages, in few rows
sends         whose sends failed under a fault, and until when
views         what name servers showed, and when
"""
