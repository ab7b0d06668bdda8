"""Asynchronous work: copies, mbarriers, requests for clusters (PTX ISA 9.7.13)."""
