"""How it is tested: one file a question, and the loop that all of them share."""
