"""The PTX ISA as data: instructions, versions, targets, types and shapes; PTX ISA chapters 5 and 9."""
