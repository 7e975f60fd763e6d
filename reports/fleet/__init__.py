"""Questions to any number of bundles at once, put to DuckDB: a fleet's history is millions of records.

The bundles are read into one table (:mod:`reports.fleet.loading`); each other module here is one question to it.
"""
