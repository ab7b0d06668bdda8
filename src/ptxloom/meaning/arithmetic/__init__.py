"""Instructions that compute with values in registers, each lane separately."""
