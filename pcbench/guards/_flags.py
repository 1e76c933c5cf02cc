"""What each guard filter and each setting that is known to change guards makes unsafe."""

from __future__ import annotations

_NOTHING = "nothing: "

FILTERS = {
    "keep_portable_guards_unsafe": "a change of a Python value, an attribute or a global",
    "keep_tensor_guards_unsafe": "a change of a Python value, an attribute, a parameter, a global or a mode",
    "skip_all_guards_unsafe": "any change at all, even that of an input's shape",
    "skip_guard_on_all_nn_modules_unsafe": "a change on any module: of an attribute, or of a parameter's shape",
    "skip_guard_on_globals_unsafe": "a change of a global: another value, or another shape of a global tensor",
    "skip_guard_on_inbuilt_nn_modules_unsafe": "a change on a module of torch.nn, as of an attribute",
}
"""By filter of ``torch.compiler``, what change of the program is then not noticed. Each is proven by a test."""

FLAGS = {
    "allow_unspec_int_on_nn_module": {
        True: _NOTHING + "an int on a module may then vary without a compilation",
        False: _NOTHING + "another int on a module compiles anew",
    },
    "assume_dunder_attributes_remain_unchanged": {
        True: "by design another __defaults__ or __closure__ where a dict's tag stands for guards; none is proven",
        False: _NOTHING + "what a dict's tag stands for is smaller",
    },
    "enable_cpp_symbolic_shape_guards": {
        True: _NOTHING + "guards on symbolic shapes are compiled as C++",
        False: _NOTHING + "guards on symbolic shapes are one Python function",
    },
    "inline_inbuilt_nn_modules": {
        True: _NOTHING + "modules of torch.nn are traced into, and guarded value by value",
        False: _NOTHING + "modules of torch.nn are called as they are then, not traced into",
    },
    "prefer_deferred_runtime_asserts_over_guards": {
        True: _NOTHING + "a shape that a guard would refuse may raise instead of compiling anew",
        False: _NOTHING + "a shape that an assert would refuse compiles anew",
    },
    "skip_guards_on_constant_func_defaults": {
        True: "a constant default of a function that is replaced by another",
        False: _NOTHING + "constant defaults of functions are guarded too",
    },
    "skip_nnmodule_hook_guards": {
        True: "hooks of a module that come or go",
        False: _NOTHING + "that a module has no hooks is guarded too",
    },
    "skip_no_tensor_aliasing_guards_on_parameters": {
        True: "one parameter in the place of two",
        False: _NOTHING + "that parameters are not one and the same is guarded too",
    },
    "skip_tensor_guards_with_matching_dict_tags": {
        True: "on torch 2.11, another shape given in place to a tensor in a dict that stays as it is",
        False: _NOTHING + "a tensor in a dict is looked at in each call",
    },
    "specialize_float": {
        True: _NOTHING + "each other float compiles anew",
        False: _NOTHING + "a float may vary without a compilation",
    },
    "specialize_int": {
        True: _NOTHING + "each other int compiles anew",
        False: _NOTHING + "an int may vary without a compilation",
    },
    "use_lamba_guard_for_object_aliasing": {
        True: _NOTHING + "that two values are one object is checked in Python",
        False: _NOTHING + "that two values are one object is checked in C++",
    },
    "use_recursive_dict_tags_for_guards": {
        True: "by design a change below a module that the versions of its dicts do not show; none is proven",
        False: _NOTHING + "all guards below a module are checked in each call",
    },
}
"""By setting of Dynamo's config and its other value, what change of the program is then not noticed.

They are those found to change the census of a model with constants, defaults, shared weights and symbolic shapes, on
torch 2.11.0, 2.13.0 or 2.15.0, when all settings were flipped one by one; without those that debug, or capture other
graphs.
"""
