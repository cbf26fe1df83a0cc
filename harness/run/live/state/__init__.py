"""What a run is made of, and what is saved and shown of it. None of this waits.

parts          what the modules of a live run share of it
kept_manifest  its manifest, saved at every step
live_view      what people see of it
live_strip     the strip of that view
"""
