"""What the Triton compiler makes of the kernels, for GPUs that need not be there: registers, spills, instructions."""

from __future__ import annotations

from benchmarks import suite


class Codegen:
    """Each kernel, compiled for each target at all of its sizes and dtypes, in the first of its configurations.

    The sidecar has a row of each compilation; where both results have them, they are judged by the rules of
    ``pcbench codegen diff``, and the numbers are for history: fewer registers and instructions are not better there.
    """

    version = "1"
    timeout = 7200
    param_names = ("kernel", "target")
    params = (suite.KERNELS, suite.CHIPS)

    def setup(self, *case):
        suite.require_commit(*case)
        suite.require("codegen_number", *case)

    def track_compile_cpu_seconds(self, kernel, target):
        return suite.tracking.codegen_compile_seconds(kernel, target, suite.CHIPS, suite.COMPILES)

    def track_instructions(self, kernel, target):
        return suite.tracking.codegen_number(kernel, target, "instructions", suite.CHIPS)

    def track_inverse_occupancy(self, kernel, target):
        return suite.tracking.codegen_number(kernel, target, "inverse occupancy", suite.CHIPS)

    def track_registers(self, kernel, target):
        return suite.tracking.codegen_number(kernel, target, "registers", suite.CHIPS)

    def track_spills(self, kernel, target):
        return suite.tracking.codegen_number(kernel, target, "spills", suite.CHIPS)

    track_compile_cpu_seconds.unit = "seconds"
    track_instructions.unit = "instructions"
    track_inverse_occupancy.unit = ""
    track_registers.unit = "registers"
    track_spills.unit = "spills"


for _number, _what, _worse in (
    (Codegen.track_instructions, "instructions", "any"),
    (Codegen.track_inverse_occupancy, "inverse occupancy", "up"),
    (Codegen.track_registers, "registers", "any"),
    (Codegen.track_spills, "spills", "up"),
):
    _number.worse = _worse
    _number.kind = "count"
    _number.codegen = _what
