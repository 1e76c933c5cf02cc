"""What becomes of the claims of load_compiled_function, by torch release: a claim that is not named here holds."""

from __future__ import annotations

from pcbench.claims import ClaimOutcome

_FIRST = "load_compiled_function."
_SCOPE = "load_compiled_function_scope."
_VALUES = "load_compiled_function_values."

DIFFERS_EVERYWHERE = {
    # A loaded guard takes the value to compare with from the module as it is at the load.
    f"{_FIRST}a_kept_guard_holds_a_constant_of_an_inlined_module_to_what_was_compiled",
    "load_compiled_function_external.saving_returns_the_external_data",
}

HOLDS_SINCE_2_15 = {
    f"{_FIRST}a_filter_can_keep_the_guards_on_globals",
    f"{_SCOPE}an_empty_dict_is_an_empty_guard_scope",
    f"{_SCOPE}every_guarded_global_must_be_bound",
    f"{_SCOPE}f_globals_is_held_by_reference",
    f"{_SCOPE}the_load_adds_dynamo_s_globals",
    f"{_SCOPE}builtins_are_added_where_a_kept_guard_needs_them",
    f"{_SCOPE}a_shape_guard_on_a_global_reads_f_globals",
    f"{_SCOPE}a_shape_guard_in_cpp_reads_f_globals",
    f"{_SCOPE}a_shape_guard_over_an_empty_dict_fails",
    f"{_VALUES}a_guarded_global_is_read_again_on_every_call",
    f"{_VALUES}what_the_guards_refuse_is_not_computed_with",
    f"{_VALUES}a_global_of_a_shape_guard_alone_keeps_its_value_of_the_load",
    f"{_VALUES}a_container_behind_a_sub_path_does_not_see_a_rebind",
    f"{_VALUES}a_store_does_not_carry_over",
    f"{_VALUES}the_re_read_comes_after_the_check",
    f"{_VALUES}calls_share_the_function_s_own_globals",
    f"{_VALUES}threads_with_a_load_each_do_not_disturb_each_other",
}

COSTLY = {
    f"{_FIRST}loads_in_a_process_that_never_saw_the_function",
    f"{_SCOPE}a_shape_guard_in_cpp_reads_f_globals",
}
"""Claims that start a torch or a C++ compiler of their own."""


def expected(claim_id: str, release: tuple[int, ...]) -> ClaimOutcome:
    """What becomes of the claim on a release, such as (2, 15)."""
    if claim_id in DIFFERS_EVERYWHERE or (claim_id in HOLDS_SINCE_2_15 and release < (2, 15)):
        return ClaimOutcome.DIFFERS
    return ClaimOutcome.HOLDS
