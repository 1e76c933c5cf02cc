"""What the Triton compiler made of a kernel: registers, spills, instructions. It compiles for GPUs and needs none.

A kernel's launches are recorded on tensors without storage, compiled for each chip as a launch would compile them, and
what came out is read: the machine code, what the assembler said of it, and the representations on the way there.
"""
