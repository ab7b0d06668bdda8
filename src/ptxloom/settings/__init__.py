"""Settings of projects in files: how a key is checked, and the settings that apply to a file."""
