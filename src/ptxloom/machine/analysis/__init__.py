"""What is known of a program before anything runs."""
