"""What came out: records of single results, bundles of a whole run, and the tables that people read.

This package knows the record and its verdict, never a kernel or a device, so a bundle can be read on a machine that
has neither.
"""
