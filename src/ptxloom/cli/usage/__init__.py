"""What argparse shows and says: help with examples, completions, mistakes in a sentence with what was meant."""
