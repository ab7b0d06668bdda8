"""The box of a tensor map and the addresses of its rows: pure arithmetic, no memory accesses."""
