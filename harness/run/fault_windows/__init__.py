"""One fault window: its target, armed, verified active, undone, verified ended.

aiming           a planned fault gets its target, when its window opens
resolved_target  the role of a fault's target for the queues, and until when that may change
verifying        the looks at its fault, and what they prove
window_opening   what comes before its first action: its target, and whether all runs agree
window_outcome   what the looks show goes into its state
window_state     the state of a window: its target, its armed fault, its facts
windows          one fault window: armed and undone
"""
