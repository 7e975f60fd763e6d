"""The tables of the docs, each made by a command from what the code really does: ``python -m suites.tables``."""
