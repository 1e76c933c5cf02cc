"""Triton kernels, one file each. Installed as ``pcbench_kernels``: an unrelated distribution is called ``kernels``."""
