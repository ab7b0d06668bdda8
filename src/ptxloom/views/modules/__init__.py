"""What a module holds: trees, queries, surveys, inspections."""
