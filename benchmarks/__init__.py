"""asv's suite over pcbench's own models and strategies.

The suite comes from the working tree, ``pcbench`` from the commit that is measured: what may be missing there is asked
for in ``benchmarks.suite`` alone.
"""
