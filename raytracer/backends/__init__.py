"""Where the kernels run: on the cores of this machine or on a CUDA device."""
