"""The suite of large tensors, which takes gigabytes: on request, ``python -m pytest suites/large``."""
