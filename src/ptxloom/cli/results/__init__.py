"""Where the results of a verb go, and in which format."""
