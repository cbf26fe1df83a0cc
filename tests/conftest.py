"""What holds for every test."""

from hypothesis import HealthCheck, settings

# How long one example takes tells of the machine, not of the code.
settings.register_profile("mqproof", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("mqproof")
