"""What goes on behind an instruction: asynchronous copies, mbarriers, requests for clusters (PTX ISA 9.7.13)."""
