"""Native code for `wgmma`: fetching its factors from shared memory, and waiting for its products."""
