"""The dynamic judge: PTX run on the CPU, bit for bit."""
