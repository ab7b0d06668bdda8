"""Factors that matrix descriptors describe: which field of the descriptor is wrong, and where its bits come from."""
