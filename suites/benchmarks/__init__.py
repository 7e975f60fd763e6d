"""What Portolan itself costs, as ratios and rates. Printed, never asserted: ``python -m suites.benchmarks``."""
