"""Verbs that read PTX: its contents, its findings, its differences, the pages of its words."""
