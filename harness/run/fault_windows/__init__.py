"""One fault window: its target, armed, verified active, undone, verified ended.

aiming           a planned fault gets its target, when its window opens
resolved_target  the role of a fault's target for the queues, and until when that may change
verifying        the looks at its fault, and what they prove
window_state     the state of a window: its target, its armed fault, its facts
windows          one fault window: armed, verified active, undone, verified ended
"""
