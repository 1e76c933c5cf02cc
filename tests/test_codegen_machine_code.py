"""Reading machine code, what the assembler says of it and what comes before it, on excerpts of real output."""

from __future__ import annotations

import pytest

from pcbench.codegen import amd_code, intermediate, machine_code
from pcbench.errors import PcbenchError

SASS = """
_add:
.text._add:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/                   S2R R0, SR_TID.X ;
        /*0180*/              @!P0 LDG.E.128 R16, desc[UR4][R2.64] ;
        /*01a0*/              @!P1 LDG.E.128 R4, desc[UR4][R2.64+0x800] ;
        /*01c0*/                   FADD R12, R12, R16 ;
        /*0220*/              @!P0 STG.E.128 desc[UR4][R16.64], R12 ;
        /*0260*/               @P1 EXIT ;
        /*0270*/                   STG.E.128 desc[UR4][R16.64+0x800], R4 ;
        /*0280*/                   EXIT ;
.L_x_0:
        /*0290*/                   BRA `(.L_x_0);
        /*02a0*/                   NOP;
        /*02b0*/                   NOP;
.L_x_1:
"""

AMD = """
	.amdgcn_target "amdgpu9.42-amd-amdhsa-unknown-gfx942"
	.globl	_add                            ; -- Begin function _add
_add:                                   ; @_add
; %bb.1:
	s_load_dwordx2 s[2:3], s[0:1], 0x0
	s_waitcnt lgkmcnt(0)
.LBB0_0:
	v_lshl_or_b32 v0, v0, 2, s3
	buffer_load_dwordx4 v[0:3], v8, s[0:3], 0 offen
	buffer_load_dwordx4 v[4:7], v8, s[4:7], 0 offen
	v_pk_add_f32 v[0:1], v[0:1], v[4:5]
	buffer_store_dwordx4 v[0:3], v8, s[12:15], 0 offen
	s_endpgm
; codeLenInByte = 416
; NumVgprs: 9
; Occupancy: 8
amdhsa.kernels:
  - .agpr_count:     0
    .private_segment_fixed_size: 0
    .sgpr_count:     22
    .sgpr_spill_count: 0
    .vgpr_count:     9
    .vgpr_spill_count: 0
"""


MATMUL = """
        /*1bc0*/              @!PT LDS RZ, [RZ] ;
        /*1bf0*/                   LDGSTS.E.BYPASS.128 [R45], desc[UR32][R12.64], P5 ;
        /*1d30*/                   LDGDEPBAR ;
        /*3520*/                   STL.64 [R1+0x3f8], R150 ;
        /*3530*/                   DEPBAR.LE SB0, 0x2 ;
        /*3930*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*3940*/                   LDL.LU.64 R24, [R1] ;
        /*4030*/                   HGMMA.64x256x16.F32 R24, gdesc[UR20].tnspB, R24, gsb0 ;
        /*4060*/                   WARPGROUP.DEPBAR.LE gsb0, 0x0 ;
        /*52d0*/                   LDL.LU R156, [R1] ;
        /*6360*/                   LDSM.16.M88.4 R64, [R0+UR24+0xa00] ;
        /*6c00*/               @P2 STG.E.128 desc[UR32][R2.64], R136 ;
"""

MATMUL_LOG = """
ptxas-blackwell info    : (C7511) Potential Performance Loss: wgmma.mma_async instructions are serialized due to \
insufficient register resources for the wgmma pipeline in the function '_matmul' in line 1000
ptxas-blackwell info    : 0 bytes gmem
ptxas-blackwell info    : Compiling entry function '_matmul' for 'sm_90a'
ptxas-blackwell info    : Function properties for _matmul
    1024 bytes stack frame, 2092 bytes spill stores, 1580 bytes spill loads
ptxas-blackwell info    : Used 255 registers, used 1 barriers, 1024 bytes cumulative stack size
ptxas-blackwell info    : Compile time = 822.132 ms
"""

LOOP = """
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 128, 16]}>
module attributes {"ttg.num-warps" = 8 : i32, ttg.target = "cuda:90"} {
  tt.func public @_matmul(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32} loc("a")) attributes {noinline = false} {
    %c-1_i32 = arith.constant -1 : i32 loc(#loc)
    %0 = tt.get_program_id x : i32 loc(#loc)
    %total:2 = scf.for %start = %c0 to %k step %c64 iter_args(%total_1 = %cst) -> (tensor<128x128xf32, #mma>) : i32 {
      %1 = ttg.convert_layout %total_1 : tensor<128x128xf16, #mma> -> tensor<128x128xf16, #blocked> loc(#loc)
      %2 = "tt.reduce"(%1) <{axis = 1 : i32}> ({
      ^bb0(%left: f32, %right: f32):
        tt.reduce.return %left : f32 loc(#loc)
      }) : (tensor<128x128xf32, #mma>) -> tensor<128xf32> loc(#loc)
      scf.yield %2 : tensor<128xf32> loc(#loc)
    } loc(#loc)
    tt.return loc(#loc)
  } loc(#loc)
} loc(#loc)
"""


def test_instructions_are_counted_by_opcode_and_padding_is_not() -> None:
    read = machine_code.read_instructions(SASS)

    assert read.mix == {"BRA": 1, "EXIT": 2, "FADD": 1, "LDC": 1, "LDG": 2, "S2R": 1, "STG": 2}
    assert read.counts["sass"] == 10
    assert read.counts["global_access"] == read.counts["global_128"] == 4
    assert read.counts["global_narrow"] == read.counts["spill_stores"] == read.counts["mma"] == 0
    assert read.matrix == ""


def test_instructions_of_a_matrix_product_are_told_apart_by_what_they_do() -> None:
    read = machine_code.read_instructions(MATMUL)

    assert read.matrix == "HGMMA"
    assert {name: count for name, count in read.counts.items() if count} == {
        "sass": 12,
        "spill_stores": 1,
        "spill_loads": 2,
        "mma": 1,
        "global_access": 2,
        "global_128": 2,
        "async_copies": 1,
        "shared_access": 2,
        "barriers": 4,
    }


@pytest.mark.parametrize(
    ("line", "matrix"),
    [
        ("UTCHMMA gdesc[UR4], gdesc[UR12], tmem[UR9], tmem[UR30], idesc[UR31], !UPT ;", "UTCHMMA"),
        ("HMMA.16816.F32 R4, R68.reuse, R2, R4 ;", "HMMA"),
        ("UTCATOMSWS.FIND_AND_SET.ALIGN UP0, UR4, UR7 ;", ""),
    ],
)
def test_what_multiplies_matrices_is_named_as_the_chip_names_it(line: str, matrix: str) -> None:
    assert machine_code.read_instructions(f"        /*0110*/                   {line}\n").matrix == matrix


@pytest.mark.parametrize(
    ("instruction", "wide", "narrow"),
    [
        ("LDG.E.U16 R4, desc[UR4][R2.64]", 0, 1),
        ("@!P0 LDG.E.U8.CONSTANT R4, desc[UR4][R2.64]", 0, 1),
        ("LDG.E.64 R4, desc[UR4][R2.64]", 0, 0),
        ("STG.E desc[UR4][R2.64], R4", 0, 0),
        ("@P1 STG.E.U16 desc[UR4][R2.64], R4", 0, 1),
        ("@UP0 UTMALDG.2D [UR8], [UR4]", 1, 0),
        ("LDS.U16 R4, [R2]", 0, 0),
    ],
)
def test_the_width_of_an_access_to_global_memory_is_in_its_name(instruction: str, wide: int, narrow: int) -> None:
    counts = machine_code.read_instructions(f"        /*0110*/                   {instruction} ;\n").counts

    assert (counts["global_128"], counts["global_narrow"]) == (wide, narrow)


def test_ptxas_words_of_registers_spills_and_stack_are_read() -> None:
    assert machine_code.read_log(MATMUL_LOG).counts == {
        "registers": 255,
        "stack_bytes": 1024,
        "spill_store_bytes": 2092,
        "spill_load_bytes": 1580,
    }


def test_a_warning_of_ptxas_is_the_same_for_another_ptxas_and_another_line() -> None:
    before = machine_code.read_log(MATMUL_LOG).warnings
    after = machine_code.read_log(MATMUL_LOG.replace("ptxas-blackwell", "ptxas").replace("1000", "998")).warnings

    assert after == before
    assert before == (
        "(C7511) Potential Performance Loss: wgmma.mma_async instructions are serialized due to insufficient register "
        "resources for the wgmma pipeline in the function '_matmul'",
    )


def test_a_log_that_says_nothing_of_registers_is_an_error() -> None:
    with pytest.raises(PcbenchError, match="said nothing about registers"):
        machine_code.read_log("\n")


def test_operations_of_a_representation_are_counted_wherever_they_stand() -> None:
    llir = (
        "define void @f(ptr %0) {\n  %1 = add i32 %0, 1\n  switch i32 %1, label %2 [\n    i32 0, label %2\n  ]\n\n"
        "2:                ; preds = %0\n  ret void\n}\n!0 = !{}\n"
    )
    ptx = (
        ".version 9.0\n.visible .entry f(\n\t.param .u64 .ptr .global .align 1 f_param_0\n)\n{\n"
        "\t.reg .b32 \t%r<9>;\n$L__BB0_1:\n\t// begin inline asm\n\t@%p1 ld.global.v4.b32 { %r1, %r2 }, [ %rd1 + 0 ];\n"
        "\tbar.sync \t0;\n\tret;\n}\n"
    )

    counts = intermediate.counted({"ttir": LOOP.replace("ttg.convert_layout", "tt.trans"), "ttgir": LOOP, "llir": llir})
    assert counts == {"ttir": 8, "ttgir": 8, "convert_layout": 1, "llir": 3}
    assert intermediate.counted({"ttir": LOOP, "ttgir": LOOP, "llir": llir, "ptx": ptx})["ptx"] == 3


def test_amd_s_accesses_are_told_apart_by_width_and_memory() -> None:
    more = """
	v_mfma_f32_32x32x8_f16 v[16:31], v[92:93], v[50:51], v[16:31]
	ds_read_b64 v[92:93], v48
	ds_write_b32 v3, v4 offset:32768
	ds_bpermute_b32 v3, v4, v5
	s_barrier
	buffer_store_dwordx2 v[0:1], v2, s[20:23], 0 offen
	buffer_load_ushort v0, v2, s[20:23], 0 offen
	global_store_short_d16_hi v0, v2, s[20:21]
	buffer_load_sbyte v0, v2, s[20:23], 0 offen
	s_endpgm
"""
    code = amd_code.read(AMD.replace("\ts_endpgm\n", more))

    assert code.matrix == "v_mfma_f32_32x32x8_f16"
    told = ("mma", "global_access", "global_128", "global_narrow", "shared_access", "barriers")
    assert [code.counts[name] for name in told] == [1, 7, 3, 3, 2, 1]


def test_amd_s_code_is_counted_without_directives_comments_and_metadata() -> None:
    code = amd_code.read(AMD)

    assert code.counts["sass"] == sum(code.mix.values()) == 8
    assert code.counts["global_access"] == code.counts["global_128"] == 3
    assert code.counts["global_narrow"] == code.counts["shared_access"] == code.counts["barriers"] == 0
    assert (code.counts["registers"], code.counts["scalar_registers"], code.counts["waves"]) == (9, 22, 8)
    assert code.matrix == ""


@pytest.mark.parametrize("lacking", [".vgpr_count", "; Occupancy"])
def test_amd_s_code_that_lacks_what_is_looked_for_is_an_error(lacking: str) -> None:
    with pytest.raises(PcbenchError, match="does not say"):
        amd_code.read(AMD.replace(lacking, "?"))


def test_a_disassembly_without_instructions_is_an_error() -> None:
    with pytest.raises(PcbenchError, match="wrote no instruction"):
        machine_code.read_instructions("        /*02a0*/                   NOP;\n")
