"""Static facts about a program."""
