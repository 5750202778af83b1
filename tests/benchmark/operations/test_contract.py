"""What every operation must declare, found by discovery: arrays, reference, work, launches."""

from itertools import product

import numpy as np
import pytest

from raytracer import ops as functions
from raytracer.backends.kernel_sources import Variant, discover_variants, list_operations
from raytracer.benchmark import operations as ops
from raytracer.benchmark.verification import Expected
from raytracer.compile_all import ARCHITECTURES, jobs
from raytracer.ops import matched
from raytracer.system.resources import kernels_folder

NAMES = ops.OPERATIONS
CASES = [(name, dtype) for name in NAMES for dtype in ops.OPERATIONS[name].dtypes]
GRID_LIMITS = (2**31 - 1, 65535, 65535)  # CUDA programming guide


def ladder(name: str) -> list[Variant]:
    return discover_variants(name)


def test_every_operation_is_a_public_function() -> None:
    assert {*NAMES, *functions.__all__} == set(dir(functions))
    assert repr(functions.vecadd) == f"raytracer.ops.vecadd: {ops.OPERATIONS['vecadd'].summary}"
    with pytest.raises(AttributeError, match="no operation 'vecad'"):
        functions.vecad  # noqa: B018


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_reference_and_cpu_form_fit_the_outputs(name: str, dtype: str) -> None:
    for given in ops.OPERATIONS[name].awkward[:4]:
        op = ops.OPERATIONS[name].at(given, dtype, seed=3)
        inputs, outputs = op.values(), op.output_arrays
        wanted = op.reference(inputs)
        assert list(wanted) == list(outputs)
        found = op.compute(inputs)
        for key, output in outputs.items():
            assert wanted[key].shape == output.shape
            assert output.nbytes == np.prod(output.shape) * np.dtype(output.dtype).itemsize
            assert found[key].dtype == output.dtype or output.dtype == "uint16"  # bfloat16
        assert Expected(op, inputs).fault(found) == ""


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_inputs_are_as_declared_and_repeatable(name: str, dtype: str) -> None:
    op = ops.OPERATIONS[name]
    op = op.at(op.awkward[:4][-1], dtype)
    for distribution in op.distributions:
        first, again = (op.at({}, distribution=distribution).values() for _ in range(2))
        for key, declared in op.input_arrays.items():
            array = first[key]
            assert array.flags.c_contiguous
            assert (array == again[key]).all()
            assert (array.shape, array.dtype) == (declared.shape, declared.dtype)
    assert op.work["bytes_read"] == sum(array.nbytes for array in first.values())
    assert op.find_axis_sizes(first).items() <= dict(op.axes).items()
    found, inputs = matched(op, tuple(first.values()))
    assert (found.axes, list(inputs)) == (op.axes, list(first))


@pytest.mark.parametrize("name", NAMES)
def test_every_variant_has_a_launch_within_the_limits(name: str) -> None:
    op = ops.OPERATIONS[name]
    for variant in ladder(name):
        sizes = (op.axes, *op.awkward) if variant.grid else ()  # any size: test_model.py
        for given, multiprocessors, dtype in product(sizes, (1, 132), op.dtypes):
            launch = variant.configure_launch(op.at(given, dtype).launch_names, multiprocessors)
            assert all(
                1 <= size <= most for size, most in zip(launch.grid, GRID_LIMITS, strict=True)
            )
            assert 0 <= launch.shared <= 227 << 10


def test_rungs_that_are_production_kernels_are_not_compiled_again() -> None:
    compiled = {job.kernel.place for job in jobs(kernels_folder(), ["sm_90a"])}
    same = [rung for rung in ladder("render") if rung.product]
    assert same
    for rung in same:
        assert rung.product is not None
        assert rung.product.place in compiled
        assert rung.place not in compiled


@pytest.mark.parametrize(("arch", "kinds"), [("sm_80", 8), ("sm_90a", 86)])
def test_every_tile_is_compiled(arch: str, kinds: int) -> None:
    tiles = [job.macros for job in jobs(kernels_folder(), [arch]) if "any_size" in job.label]
    assert len(tiles) == kinds


@pytest.mark.parametrize("arch", [each for each in ARCHITECTURES if each.startswith("sm_")])
def test_every_architecture_computes_every_operation_that_it_can(arch: str) -> None:
    """Tensor cores multiply bfloat16 from sm_80 on."""
    without = {
        name for name in list_operations() if not any(each.admits(arch) for each in ladder(name))
    }
    assert without == ({"matmul_bf16"} if arch == "sm_75" else set())
