"""Raw rows folded into events: attempts, deliveries, acknowledgements, windows.

acknowledged  when deliveries were acknowledged, and when their connections ended
arrivals      deliveries in their order, and what each identifies
messages      attempts and settlements, folded into one slot a message
publishes     intended publishes, and whether each was confirmed in time
terms         when each attempt is due, and the fate of its transaction
windows       the judged time of each fault window, and the steady state before the first
"""
