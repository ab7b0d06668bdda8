"""Where the inputs of a verb come from: files and folders, settings, CUDA sources, kernels and instructions named."""
