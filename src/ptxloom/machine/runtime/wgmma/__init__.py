"""What `wgmma` needs of native code: its factors, brought from shared memory, and the wait for its products."""
