"""Pictures: what is drawn as a scene of cells, labels and lines, and a writer for each format that it can take."""
