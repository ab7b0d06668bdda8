"""What can go wrong in a run, in words: every kind of hazard, and its page; no machine is needed to read them."""
