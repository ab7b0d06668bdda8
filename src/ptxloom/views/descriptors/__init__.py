"""Matrix descriptors and tensor maps: their words, and pictures of the shared memory that they describe."""
