"""One fault window: its target, armed, verified active, undone, verified ended.

aiming           a planned fault gets its target, when its window opens
verifying        the looks at its fault, and what they prove
window_opening   what comes before its first action: its target, and whether all runs agree
window_outcome   what the looks show goes into its state
windows          one fault window: armed and undone
"""
