"""The tools of every view: terminal cells, colour, tables, SVG, carets under lines, JSON."""
