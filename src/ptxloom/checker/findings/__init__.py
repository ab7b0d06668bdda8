"""Findings once they are made: grouped, silenced by comments, selected."""
