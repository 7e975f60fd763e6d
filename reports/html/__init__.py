"""An audit as one HTML file that needs nothing else: no network, no library, no script to be read.

What bundles hold was written elsewhere, so every text of it is escaped, and the document's own policy lets no script
run but the one that is written here.
"""
