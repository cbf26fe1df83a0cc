"""Verdicts on messages: lost, duplicated, reordered, early, late, torn.

attempts         confirmed and nowhere, or refused and came
attributions     which fault windows may have caused it
check_backs      transactions that the broker should have checked
delays           before their time, or much later
duplicates       sources of duplicate deliveries
loss             messages that were not delivered, and those of unknown fate
not_redelivered  never acknowledged and not redelivered
order            whether messages of one producer and key came as they were sent
progress         what a group's stored progress had passed when a log was read again
requeues         the deliveries that consumers held or gave back
transactions     rolled back and seen, or committed by half
unseen           places that may hold a message that was not seen
"""
