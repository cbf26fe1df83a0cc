"""What operators do during a run and after it: carried out, and waited for.

afterwards  what brokers report after an operation
auditor     restarts what did not recover by itself
operating   operations: carried out, and waited for
promoting   an operator promotes a mirror
rejoining   the role of a host that is back, and what it holds
"""
