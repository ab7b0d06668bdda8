"""The nouns of a kernel made ready for translation."""
