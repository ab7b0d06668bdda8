"""Findings, for people and for programs."""
