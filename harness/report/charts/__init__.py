"""Drawings as places and paths, with no idea of HTML.

scale    the time axis: instants and stretches as per cent of its width
chart    a run's timeline, put together
plots    success, rates and latency over time, as curves
use_plots  what the brokers' hosts used over time, as curves
routes   what name servers showed, and whom clients asked
svg      lanes along time as an image of its own
shares   the share on time over time, of all runs of a cell, as areas
"""
