"""The machine's port: what packages above it take besides the public names of `ptxloom.machine`.

`prepare`: from PTX to a kernel, and what a device is. `launch`: many launches of a kernel, and those who watch all
launches. `image`: textures and surfaces that a driver describes. `region`: the memory of a device, and of the host.
`stages`: what becomes of a kernel on its way to machine code. import-linter refuses any other import
(`port-of-the-machine` in `pyproject.toml`).
"""
