"""Drawings as places and paths, with no idea of HTML.

scale    the time axis: instants and stretches as per cent of its width, and rows of these
chart    a run's timeline, put together
plots    success, rates and latency over time, and what brokers used, as curves
svg      lanes along time as an image of its own
shares   the share on time over time, of all runs of a cell, as areas
"""
