"""What timings say of optimizations: statistics, classes between devices, and the tables that people read.

Everything here is computed from heats (:mod:`reports.heat`) alone.
"""
