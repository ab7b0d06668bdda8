"""Value in, string out: text, tables, JSON, SARIF, annotations and SVG.

A view computes no facts and opens nothing; the same value always yields the same bytes.
"""
