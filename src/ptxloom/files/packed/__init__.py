"""Packed texts, unpacked: the two formats in which nvcc's fatbins hold PTX; Python alone, as they are small."""
