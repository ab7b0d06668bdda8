"""The classes of a kernel that is ready for translation."""
