"""Operators on spectral elements: arrays u (elements, n, n, n) of values at points.

n and the type are macros, so that loops have constant length.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from raytracer.benchmark.operations.base import Arrays, Axes, Op, Peer, sizes_of

POINTS = (*range(2, 17), 20)  # supported n
TYPES = {"float32": "float", "float64": "double"}
# Every n, since each has its own partition, with numbers of elements that do not fill a group, and
# more elements than fit on the device at once, for kernels with a loop over elements.
FEW = [f"{2_000 // n**2} {n}" for n in POINTS if n > 3 and n != 8]
AWKWARD = sizes_of("elements n", ",".join(["1 8, 2003 8, 1001 2, 101 3, 9001 8", *FEW]))
BLOCK = "elements n n n"
# Row and column of each of the six factors in the symmetric 3 x 3 matrix of a point.
FACTORS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
EINSUM = ("il,eljk->eijk", "jl,eilk->eijk", "kl,eijl->eijk")


def points(axes: Axes) -> int:
    """Return the number of points of all elements."""
    return axes["elements"] * axes["n"] ** 3


def along(d: Any, u: Any, axis: int) -> Any:
    """Apply the operator d (n, n) along axis 0, 1 or 2 of u (elements, n, n, n), in their type."""
    if axis == 0:
        elements, n = u.shape[:2]
        return (d @ u.reshape(elements, n, n * n)).reshape(u.shape)
    return d @ u if axis == 1 else u @ d.T


def contraction(axis: int, arrays: Arrays) -> Arrays:
    """Return v = D u, D being d along one axis."""
    return {"v": along(arrays["d"], arrays["u"], axis)}


def advection(arrays: Arrays) -> Arrays:
    """Return v = c_0 D_0 u + c_1 D_1 u + c_2 D_2 u, D_a being d along axis a."""
    u, c, d = arrays["u"], arrays["c"], arrays["d"]
    return {"v": sum(c[:, axis] * along(d, u, axis) for axis in range(3))}


def gradient(arrays: Arrays) -> Arrays:
    """Return gx[e,i,j,k] = sum over l of d[i,l] u[e,l,j,k]; gy and gz the same along j and k."""
    return {
        name: along(arrays["d"], arrays["u"], axis) for axis, name in enumerate(("gx", "gy", "gz"))
    }


def diffusion(arrays: Arrays) -> Arrays:
    """Return v = sum over a, b of D_a^T (g_ab D_b u), D_a being d along axis a: CEED's BK5."""
    g, d = arrays["g"], arrays["d"]
    slopes = list(gradient(arrays).values())
    flux: list[Any] = [0, 0, 0]
    for factor, (row, column) in enumerate(FACTORS):
        flux[row] = flux[row] + g[:, factor] * slopes[column]
        if row != column:
            flux[column] = flux[column] + g[:, factor] * slopes[row]
    transposed = d.T.copy()
    return {"v": sum(along(transposed, each, axis) for axis, each in enumerate(flux))}


def mass(arrays: Arrays) -> Arrays:
    """Return v = B^T (w B u), B being b along all axes: CEED's BK1, n quadrature points a side."""
    v, b = arrays["u"], arrays["b"]
    for axis in range(3):
        v = along(b, v, axis)
    v = arrays["w"] * v
    for axis in range(3):
        v = along(b.T.copy(), v, axis)
    return {"v": v}


def einsum(*equations: str) -> tuple[Peer, ...]:
    """Return einsums of PyTorch as a peer; they allocate their results."""

    def make(torch: Any, of: dict[str, Any]) -> Callable[[], Any]:
        return lambda: [torch.einsum(equation, of["d"], of["u"]) for equation in equations]

    return (Peer("PyTorch einsum", make),)


def element_op(
    name: str,
    summary: str,
    compute: Callable[[Arrays], Arrays],
    flop_per_point: Callable[[int], int],
    inputs: dict[str, str],
    outputs: tuple[str, ...] = ("v",),
    **options: Any,
) -> Op:
    """Return an operation on elements whose outputs have one value per point."""
    return Op(
        name=name,
        summary=summary,
        axes={"elements": 100_000, "n": 8},
        inputs=inputs,
        outputs=dict.fromkeys(outputs, BLOCK),
        compute=compute,
        flop=lambda axes: flop_per_point(axes["n"]) * points(axes),
        awkward=AWKWARD,
        dtypes=tuple(TYPES),
        macros=lambda axes, dtype: {"RT_N": str(axes["n"]), "RT_T": TYPES[dtype]},
        macro_sizes={"n": POINTS},
        **options,
    )


OPS = (
    element_op(
        "advection",
        "velocity times gradient of (n, n, n) elements, fused",
        advection,
        lambda n: 3 * 2 * n + 5,
        {"u": BLOCK, "c": "elements 3 n n n", "d": "n n"},
        note=(
            "c is the velocity in the coordinates of the element, geometric factors included. u "
            "and c are read, v is written: 5 numbers per point. The chain of two kernels moves 11; "
            "rates count 5."
        ),
    ),
    element_op(
        "contraction",
        "gradient of (n, n, n) elements: an (n, n) operator along each axis",
        gradient,
        lambda n: 3 * 2 * n,
        {"u": BLOCK, "d": "n n"},
        ("gx", "gy", "gz"),
        peers=einsum(*EINSUM),
        note="u is read once and three outputs are written.",
    ),
    *(
        element_op(
            f"contraction_{'xyz'[axis]}",
            f"an (n, n) operator along {'xyz'[axis]} of (n, n, n) elements",
            partial(contraction, axis),
            lambda n: 2 * n,
            {"u": BLOCK, "d": "n n"},
            peers=einsum(EINSUM[axis]),
            note="The count of published tables: one pass and one contraction.",
        )
        for axis in range(3)
    ),
    element_op(
        "diffusion",
        "stiffness of (n, n, n) elements, fused: gradient, six factors, transposed gradient",
        diffusion,
        lambda n: 6 * 2 * n + 15,
        {"u": BLOCK, "g": "elements 6 n n n", "d": "n n"},
        rounding=2,  # two successive sums of n products
        note=(
            "CEED's bake-off kernel BK5, with equal points of solution and quadrature. u and six "
            "factors per point are read, v is written: 8 numbers per point. The chain of three "
            "kernels moves 20; rates count 8, so that they are comparable."
        ),
    ),
    element_op(
        "mass",
        "mass of (n, n, n) elements, fused: interpolate, weigh, interpolate back",
        mass,
        lambda n: 6 * 2 * n + 1,
        {"u": BLOCK, "w": BLOCK, "b": "n n"},
        rounding=3,  # six successive sums of n products
        note=(
            "CEED's bake-off kernel BK1 with as many quadrature points as points. u and w are "
            "read, v is written: 3 numbers per point. The chain of three kernels moves 7; rates "
            "count 3."
        ),
    ),
)
