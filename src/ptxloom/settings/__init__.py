"""What projects say of themselves in files: how a key is judged, and the settings that count for a file."""
