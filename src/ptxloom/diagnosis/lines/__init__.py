"""From an error to the line to change."""
