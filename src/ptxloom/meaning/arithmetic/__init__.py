"""What instructions compute of the values in registers, each lane for itself."""
