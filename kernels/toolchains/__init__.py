"""What the files of one paradigm share: one file a paradigm that needs one, and no operation."""
