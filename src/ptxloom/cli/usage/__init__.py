"""The output of argparse: help with examples, completions, and errors in a sentence with a suggestion."""
