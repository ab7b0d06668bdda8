"""The box of a tensor map, and which bytes its rows are: only numbers, no memory is touched."""
