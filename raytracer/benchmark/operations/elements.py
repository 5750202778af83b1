"""The gradient on spectral elements: arrays u (elements, n, n, n) of values at points.

n and the type are macros, so that loops have constant length.
"""

from collections.abc import Callable
from typing import Any

from raytracer.benchmark.operations.base import Arrays, Op, Peer, sizes_of

POINTS = (*range(2, 17), 20)  # supported n
TYPES = {"float32": "float", "float64": "double"}
# Every n, since each has its own partition, with numbers of elements that do not fill a group, and
# more elements than fit on the device at once, for kernels with a loop over elements.
FEW = [f"{2_000 // n**2} {n}" for n in POINTS if n > 3 and n != 8]
BLOCK = "elements n n n"


def along(d: Any, u: Any, axis: int) -> Any:
    """Apply the operator d (n, n) along axis 0, 1 or 2 of u (elements, n, n, n), in their type."""
    if axis == 0:
        elements, n = u.shape[:2]
        return (d @ u.reshape(elements, n, n * n)).reshape(u.shape)
    return d @ u if axis == 1 else u @ d.T


def gradient(arrays: Arrays) -> Arrays:
    """Return gx[e,i,j,k] = sum over l of d[i,l] u[e,l,j,k]; gy and gz the same along j and k."""
    return {
        name: along(arrays["d"], arrays["u"], axis) for axis, name in enumerate(("gx", "gy", "gz"))
    }


def torch_einsum(torch: Any, of: dict[str, Any]) -> Callable[[], Any]:
    """Return einsums of PyTorch, which allocate their results."""
    equations = ("il,eljk->eijk", "jl,eilk->eijk", "kl,eijl->eijk")
    return lambda: [torch.einsum(equation, of["d"], of["u"]) for equation in equations]


OPS = (
    Op(
        name="contraction",
        summary="gradient of (n, n, n) elements: an (n, n) operator along each axis",
        axes={"elements": 100_000, "n": 8},
        inputs={"u": BLOCK, "d": "n n"},
        outputs=dict.fromkeys(("gx", "gy", "gz"), BLOCK),
        compute=gradient,
        flop=lambda axes: 6 * axes["elements"] * axes["n"] ** 4,
        awkward=sizes_of("elements n", ",".join(["1 8, 2003 8, 1001 2, 101 3, 9001 8", *FEW])),
        dtypes=tuple(TYPES),
        macros=lambda axes, dtype: {"RT_N": str(axes["n"]), "RT_T": TYPES[dtype]},
        macro_sizes={"n": POINTS},
        peers=(Peer("PyTorch einsum", torch_einsum),),
        note="u is read once and three outputs are written.",
    ),
)
