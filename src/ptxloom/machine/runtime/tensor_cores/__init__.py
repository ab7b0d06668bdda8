"""What tensor memory holds, and a product into it on its way: structs that the state of a run points to."""
