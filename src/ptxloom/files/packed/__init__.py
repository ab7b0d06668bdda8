"""Unpacks the two formats in which nvcc's fatbins hold PTX; in pure Python, as the texts are small."""
