"""Times a kernel on a GPU, in turn with torch's own: random inputs beyond the cache, the answer checked on both sides.

What the loop needs of a GPU is :class:`pcbench.kernel_timing.gpu.Gpu`; torch's is in ``torch_gpu``.
"""
