"""One launch of a variant on the arrays of a caller: `raytracer.ops.vecadd(a, b)`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.arguments import one_of, text
from raytracer.backends.cuda.compile import NoCompilerError
from raytracer.benchmark.cuda.timing import Session, SizeError
from raytracer.benchmark.operations.base import Arrays, Op
from raytracer.benchmark.options import select
from raytracer.benchmark.runner import Plan, compute
from raytracer.errors import BackendError, UserError
from raytracer.variants.kernel import preferred


def call(
    op: Op, arrays: tuple[NDArray[Any], ...], variant: str | None, dtype: str | None = None
) -> Any:
    """Compute an operation, as `raytracer.ops.Operation` describes."""
    inputs = matched(op, arrays)
    dtype = op.dtype_of(inputs) if dtype is None else dtype
    one_of(dtype, op.name, op.dtypes, "type")
    words = [] if variant is None else [text(variant, "variant")]
    variants = [each for each in select(op, words) if each.supports(dtype)]
    if not variants:
        raise UserError(f"{variant} of {op.name} does not compute {dtype}")
    with Session() as session:
        supported = [each for each in variants if each.admits(session.arch)]
        if not supported:
            raise BackendError(f"no variant of {op.name} runs on {session.arch}")
        axes = op.axes_of(inputs)
        order = preferred(supported, axes, dtype)
        fortran = {name for name, a in inputs.items() if a.ndim == 2 and a.flags.fnc}
        for each in order:
            by_columns = frozenset(fortran if each.sizes else ())  # transposes are uploaded
            plan = Plan(op, axes, dtype, transposed=by_columns)
            contiguous = {
                name: np.ascontiguousarray(a.T if name in by_columns else a)
                for name, a in inputs.items()
            }
            try:
                outputs, _ = compute(session, plan, each, contiguous)
                break
            except (SizeError, NoCompilerError):
                if each is order[-1]:
                    raise
    results = tuple(outputs.values())
    return results[0] if len(results) == 1 else results


def matched(op: Op, arrays: tuple[NDArray[Any], ...]) -> Arrays:
    """Return the arrays by name; raise UserError if number, dtype or shape is wrong."""
    if len(arrays) != len(op.inputs):
        raise UserError(f"{op.name} takes {len(op.inputs)} arrays: {', '.join(op.inputs)}")
    try:
        inputs = {name: np.asarray(array) for name, array in zip(op.inputs, arrays, strict=True)}
    except (TypeError, ValueError) as error:
        raise UserError(f"{op.name}: an argument is not an array: {error}") from error
    dtype = op.dtype_of(inputs)
    if dtype not in op.dtypes:
        raise UserError(f"{op.name} takes {' or '.join(op.dtypes)} arrays, not {dtype}")
    try:
        axes = op.resolve(op.axes_of(inputs))
    except ValueError as error:
        raise UserError(f"{op.name}: the shapes of the arrays do not match") from error
    for name, expected in op.input_arrays(axes, dtype).items():
        array = inputs[name]
        if array.shape != expected.shape or array.dtype != expected.dtype:
            raise UserError(
                f"{op.name}: {name} is {array.dtype} {array.shape}, expected "
                f"{expected.dtype} {expected.shape}"
            )
    op.check(inputs)
    return inputs
