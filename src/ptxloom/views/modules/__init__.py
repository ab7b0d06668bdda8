"""Views of a module's contents: trees, queries, surveys, inspections."""
