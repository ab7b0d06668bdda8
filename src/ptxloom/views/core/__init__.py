"""What every view writes with: terminal cells, colour, tables, SVG, carets under lines, JSON."""
