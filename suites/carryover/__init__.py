"""Which optimizations pay on this machine: what races against what, how it is judged first, and how it is timed."""
