"""A platform's numerical profile: how it computes, asked by probes that answer "unknown" rather than guess.

One file a kind of question. A probe knows nothing but a :class:`platforms.profile.machine.Machine`, so that the same
probes run on real platforms and on simulated ones of known make, which prove them.
"""
