"""What can be written on the command line and in launch files, read without importing what does the work."""
