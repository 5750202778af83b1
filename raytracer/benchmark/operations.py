"""The operations of the bench."""

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np

from raytracer.benchmark.op import (
    DISTRIBUTIONS,
    Arrays,
    Op,
    Peer,
    bfloat16_bits,
    draw,
    from_bfloat16,
    parse_sizes,
)
from raytracer.config.errors import UserError


def torch_add(torch: Any, of: dict[str, Any]) -> Callable[[], Any]:
    """Return the addition of PyTorch into allocated memory."""
    return partial(torch.add, of["a"], of["b"], out=torch.empty_like(of["a"]))


# The sums of two vectors and of two matrices: bound by memory
VECADD = Op(
    name="vecadd",
    summary="c = a + b of two vectors",
    axes={"n": 1 << 28},  # 1 GiB per vector, far above any L2 cache
    inputs={"a": "n", "b": "n"},
    outputs={"c": "n"},
    compute=lambda arrays: {"c": arrays["a"] + arrays["b"]},
    flop=lambda axes: axes["n"],
    has_offset=True,
    # The offsets are three different places in 16 bytes.
    awkward=parse_sizes("n offset", "1, 3, 255, 1025, 4099, 3 2, 8195 1, 8195 4, 1000003"),
    peers=(Peer("PyTorch add", torch_add),),
    note="12 bytes per addition: bound by memory, or by the L2 cache for small n.",
)

MATRIXADD = Op(
    name="matrixadd",
    summary="C = A + B of two row-major matrices",
    axes={"rows": 16384, "cols": 16384},
    inputs={"a": "rows cols", "b": "rows cols"},
    outputs={"c": "rows cols"},
    compute=lambda arrays: {"c": arrays["a"] + arrays["b"]},
    flop=lambda axes: axes["rows"] * axes["cols"],
    awkward=parse_sizes(
        "rows cols", "1 1, 3 1030, 1027 5, 33 65, 257 1001, 91 93, 5 4096, 70001 3"
    ),
    peers=(Peer("PyTorch add", torch_add),),
    note="Accesses coalesce if neighbouring threads are on neighbouring columns, not on rows.",
)


# The gradient on spectral elements: arrays u (elements, n, n, n) of values at points. n and the
# type are macros, so that loops have constant length.

POINTS = (*range(2, 17), 20)  # supported n
REAL = {"float32": "float", "float64": "double"}
# Every n, since each has its own partition, with numbers of elements that do not fill a group, and
# more elements than fit on the device at once, for kernels with a loop over elements.
FEW_ELEMENTS = [f"{2_000 // n**2} {n}" for n in POINTS if n > 3 and n != 8]
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


EINSUM = ("il,eljk->eijk", "jl,eilk->eijk", "kl,eijl->eijk")  # along each axis


def torch_einsum(*equations: str) -> Peer:
    """Return einsums of PyTorch, which allocate their results."""

    def make(torch: Any, of: dict[str, Any]) -> Callable[[], Any]:
        return lambda: [torch.einsum(equation, of["d"], of["u"]) for equation in equations]

    return Peer("PyTorch einsum", make)


def element_op(
    name: str,
    summary: str,
    compute: Callable[[Arrays], Arrays],
    flop_of_point: Callable[[int], int],
    inputs: dict[str, str],
    outputs: tuple[str, ...] = ("v",),
    **others: Any,
) -> Op:
    """Return an operation on elements whose outputs have one value per point."""
    return Op(
        name=name,
        summary=summary,
        axes={"elements": 100_000, "n": 8},
        inputs=inputs,
        outputs=dict.fromkeys(outputs, BLOCK),
        compute=compute,
        flop=lambda axes: flop_of_point(axes["n"]) * axes["elements"] * axes["n"] ** 3,
        awkward=parse_sizes(
            "elements n", ",".join(["1 8, 2003 8, 1001 2, 101 3, 9001 8", *FEW_ELEMENTS])
        ),
        dtypes=tuple(REAL),
        macros=lambda axes, dtype: {"RT_N": str(axes["n"]), "RT_T": REAL[dtype]},
        macro_sizes={"n": POINTS},
        **others,
    )


CONTRACTION = element_op(
    "contraction",
    "gradient of (n, n, n) elements: an (n, n) operator along each axis",
    gradient,
    lambda n: 3 * 2 * n,
    {"u": BLOCK, "d": "n n"},
    ("gx", "gy", "gz"),
    peers=(torch_einsum(*EINSUM),),
    note=(
        "u is read once and three outputs are written. Of one axis, with a multiply-add counted as "
        "one and u alone as bytes, it is n / b FLOP per byte (b bytes a number): 2 for n = 8 in "
        "float32 and 1 in float64, 5 and 2.5 for n = 20."
    ),
)


def contract(axis: int, arrays: Arrays) -> Arrays:
    """Return v = D u, D being d along one axis."""
    return {"v": along(arrays["d"], arrays["u"], axis)}


ONE_AXIS = tuple(
    element_op(
        f"contraction_{name}",
        f"an (n, n) operator along {name} of (n, n, n) elements",
        partial(contract, axis),
        lambda n: 2 * n,
        {"u": BLOCK, "d": "n n"},
        peers=(torch_einsum(EINSUM[axis]),),
        note=(
            "n / b FLOP per byte (b bytes a number), by the count of published tables: one "
            "contraction, with u read and v written. A multiply-add counts as two."
        ),
    )
    for axis, name in enumerate("xyz")
)

# Fused operators: a chain of contractions without the arrays between them.

# Row and column of each of the six factors in the symmetric 3 x 3 matrix of a point.
FACTORS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


def advect(arrays: Arrays) -> Arrays:
    """Return v = c_0 D_0 u + c_1 D_1 u + c_2 D_2 u, D_a being d along axis a."""
    u, c, d = arrays["u"], arrays["c"], arrays["d"]
    return {"v": sum(c[:, axis] * along(d, u, axis) for axis in range(3))}


def diffuse(arrays: Arrays) -> Arrays:
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


def weigh_mass(arrays: Arrays) -> Arrays:
    """Return v = B^T (w B u), B being b along all axes: CEED's BK1, n quadrature points a side."""
    v, b = arrays["u"], arrays["b"]
    for axis in range(3):
        v = along(b, v, axis)
    v = arrays["w"] * v
    for axis in range(3):
        v = along(b.T.copy(), v, axis)
    return {"v": v}


ADVECTION = element_op(
    "advection",
    "velocity times gradient of (n, n, n) elements",
    advect,
    lambda n: 3 * 2 * n + 5,
    {"u": BLOCK, "c": "elements 3 n n n", "d": "n n"},
    sums=2,  # over l, and over the axes
    note=(
        "c is the velocity in the coordinates of the element, geometric factors included. u and c "
        "are read, v is written: 5 numbers per point, (6 n + 5) / (5 b) FLOP per byte. The chain "
        "of two kernels moves 11, (6 n + 5) / (11 b); rates count 5."
    ),
)
DIFFUSION = element_op(
    "diffusion",
    "stiffness of (n, n, n) elements: gradient, six factors, transposed gradient",
    diffuse,
    lambda n: 6 * 2 * n + 15,
    {"u": BLOCK, "g": "elements 6 n n n", "d": "n n"},
    sums=2,
    note=(
        "CEED's bake-off kernel BK5, with equal points of solution and quadrature. u and six "
        "factors per point are read, v is written: 8 numbers per point, (12 n + 15) / (8 b) FLOP "
        "per byte. The chain of three kernels moves 20, (12 n + 15) / (20 b); rates count 8."
    ),
)
MASS = element_op(
    "mass",
    "mass of (n, n, n) elements: interpolate, weigh, interpolate back",
    weigh_mass,
    lambda n: 6 * 2 * n + 1,
    {"u": BLOCK, "w": BLOCK, "b": "n n"},
    sums=6,
    note=(
        "CEED's bake-off kernel BK1 with as many quadrature points as points. u and w are read, v "
        "is written: 3 numbers per point, (12 n + 1) / (3 b) FLOP per byte. The chain of three "
        "kernels moves 7, (12 n + 1) / (7 b); rates count 3."
    ),
)


# The histogram of bytes, and that of numbers with any number of bins.

BINS = 256
PIECE = 1 << 22  # keys that are counted at once, because bincount widens every key
KEYS = {"float32": "float", "uint32": "unsigned int", "uint16": "unsigned short"}
# How far float32 edges may be from even ones, because numbers and sums of widths are rounded.
EDGE_ROUNDING, UNEVEN = 2e-7, 0.01  # of the greatest edge, of a bin
RANGE = (-3.0, 3.0)  # of the bins of float32 values, which are normal by default


class HistogramBins(Op):
    """Even bins between the first and the last edge; values outside are not counted."""

    def values(self) -> Arrays:
        """Draw keys (n,) and edges (bins + 1,), both of `dtype`; keys reach beyond the edges."""
        bins, dtype = self.axes["bins"], self.dtype
        keys = draw((self.axes["n"],), "float32", self.distribution, self.seed)
        if dtype == "float32":
            return {"keys": keys, "edges": np.linspace(*RANGE, bins + 1, dtype=np.float32)}
        largest = int(np.iinfo(dtype).max)
        width = max(1, (largest if bins < 1 << 15 else bins) * 3 // 4 // bins)
        lower = (largest - width * bins) // 2 if bins < largest else 0
        even = lower + width * np.arange(bins + 1, dtype=np.int64)
        edges = even.clip(0, largest).astype(dtype)
        # Integers about the middle of the edges; normal: sigma a sixth of their range.
        first, last = float(edges[0]), float(edges[-1])
        spread = (last - first) / (6 if self.distribution in ("normal", "sorted") else 2)
        integers = (keys.astype(np.float64) * spread + (first + last) / 2).clip(0, largest)
        return {"keys": integers.astype(dtype), "edges": edges}

    def check(self, inputs: Arrays) -> None:
        """Raise UserError for edges that are not evenly spaced: the kernels divide by the width."""
        edges, bins = inputs["edges"], len(inputs["edges"]) - 1
        lower, upper = float(edges[0]), float(edges[-1])
        if not 0 < upper - lower < float(np.finfo(np.float32).max):
            raise UserError("histogram_bins: edges: give finite numbers that ascend")
        if edges.dtype == np.float32:
            even = lower + (upper - lower) / bins * np.arange(bins + 1)
            allowed = EDGE_ROUNDING * max(abs(lower), abs(upper)) + UNEVEN * (upper - lower) / bins
        else:
            even, allowed = lower + max((upper - lower) // bins, 1) * np.arange(bins + 1), 0.0
            even = even.clip(max=np.iinfo(edges.dtype).max)
        far = ~(np.abs(edges.astype(np.float64) - even) <= allowed)  # NaN is far, too
        if far.any():
            at = int(far.argmax())
            raise UserError(
                f"histogram_bins: edges[{at}] is {edges[at]} and would be {even[at]:.9g} if all "
                "bins were as wide: only even bins are counted"
            )


def counted(keys: Any, bins: int, bin_of: Callable[[Any], Any] = lambda part: part) -> Any:
    """Count the bins of keys, uint32 (bins,)."""
    total = np.zeros(bins, np.int64)
    for begin in range(0, len(keys), PIECE):
        total += np.bincount(bin_of(keys[begin : begin + PIECE]), minlength=bins)
    return total.astype(np.uint32)


def count_bins(arrays: Arrays) -> Arrays:
    """Count values between the edges, uint32 (bins,), by the arithmetic of the kernels."""
    keys, edges = arrays["keys"], arrays["edges"]
    lower, upper, bins = edges[0], edges[-1], len(edges) - 1

    def bin_of(part: Any) -> Any:
        if keys.dtype == np.float32:
            inside = part[(part >= lower) & (part < upper)]
            scale = np.float32(bins) / (upper - lower)
            return np.minimum(((inside - lower) * scale).astype(np.int64), bins - 1)
        width = max((int(upper) - int(lower)) // bins, 1)
        numbers = (part.astype(np.int64) - int(lower)) // width
        return numbers[(numbers >= 0) & (numbers < bins)]

    return {"counts": counted(keys, bins, bin_of)}


def torch_bincount(torch: Any, of: dict[str, Any]) -> Callable[[], Any]:
    """Return bincount of PyTorch, which allocates its result."""
    return partial(torch.bincount, of["keys"], minlength=BINS)


def torch_histc(torch: Any, of: dict[str, Any]) -> Callable[[], Any]:
    """Return histc of PyTorch, which allocates its result."""
    edges = of["edges"]
    return partial(torch.histc, of["keys"], len(edges) - 1, float(edges[0]), float(edges[-1]))


HISTOGRAM = Op(
    name="histogram",
    summary="256 bins of bytes",
    axes={"n": 1 << 30},
    inputs={"keys": "n"},  # normal: mean 110, sigma 25
    outputs={"bins": "256"},
    output_type="uint32",
    compute=lambda arrays: {"bins": counted(arrays["keys"], BINS)},
    is_exact=True,
    clears=True,
    has_offset=True,
    # Around 16 bytes (a load) and 16 KiB (an iteration of a block), and several iterations.
    awkward=parse_sizes(
        "n offset", "1, 15, 17, 255, 4099, 3 9, 16400 1, 16385, 1000003, 20000033"
    ),  # 3 9: all keys before the first aligned address
    dtypes=("uint8",),
    distributions=DISTRIBUTIONS,
    peers=(Peer("PyTorch bincount", torch_bincount),),
    note="The time includes clearing the 256 bins; there are no floating-point operations.",
)
HISTOGRAM_BINS = HistogramBins(
    name="histogram_bins",
    summary="any number of even bins of float32 values, or of 16-bit or 32-bit integers",
    axes={"n": 1 << 24, "bins": 1000},
    inputs={"keys": "n", "edges": "bins+1"},
    outputs={"counts": "bins"},
    output_type="uint32",
    compute=count_bins,
    is_exact=True,
    clears=True,
    has_offset=True,
    awkward=parse_sizes(
        "n bins offset",
        # 2 3 1: all keys before the first aligned address; 65535 bins: three slices.
        "1 1, 15 2, 4099 257, 8193 1000, 2 3 1, 8200 1000 1, 1000003 16385, 300007 65535,"
        "100003 500000, 5000011 100",
    ),
    dtypes=tuple(KEYS),
    distributions=DISTRIBUTIONS,
    macros=lambda _, dtype: {"RT_KEY": KEYS[dtype]},
    peers=(Peer("PyTorch histc", torch_histc, dtypes=("float32",)),),
    note=(
        "Bins are even: of the edges the first and the last are read, the last is outside. The "
        "bins of integers have whole widths. The time includes clearing the counts."
    ),
)


# Products of matrices: float32 by multiply-adds, bfloat16 on the tensor cores.

BFLOAT16_OUT = "bfloat16_out"  # C in bfloat16, too


INTEGERS = 8.0  # standard deviation of the values of int32 matrices, and half of their range


class Product(Op):
    """C = A B, of int32 matrices with small values, whose sums have no overflow."""

    is_product = True

    def values(self) -> Arrays:
        if self.dtype != "int32":
            return super().values()
        drawn = Op.values(replace(self, dtype="float32"))
        return {name: np.rint(INTEGERS * each).astype("i4") for name, each in drawn.items()}

    @property
    def rounding(self) -> float:
        return 0.0 if self.dtype == "int32" else super().rounding

    def factors(self, inputs: Arrays) -> tuple[Any, Any]:
        return inputs["a"].astype("f8"), inputs["b"].astype("f8")

    def reference(self, inputs: Arrays) -> Arrays:
        a, b = self.factors(inputs)
        c = a @ b
        return {"c": c.astype("i8") if self.dtype == "int32" else c}

    def permitted(self, inputs: Arrays, expected: Arrays) -> Arrays:
        a, b = self.factors(inputs)
        return {"c": self.rounding * (np.abs(a) @ np.abs(b))}


class ProductBf16(Product):
    """A product of bfloat16 matrices, which are uint16 arrays of bits: NumPy has no bfloat16."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.output_type = "uint16" if self.dtype == BFLOAT16_OUT else "float32"

    def values(self) -> Arrays:
        drawn = replace(self, input_type="float32")
        return {name: bfloat16_bits(each) for name, each in Product.values(drawn).items()}

    def factors(self, inputs: Arrays) -> tuple[Any, Any]:
        a, b = (from_bfloat16(inputs[name]).astype("f8") for name in ("a", "b"))
        return a, np.ascontiguousarray(b.T)

    def permitted(self, inputs: Arrays, expected: Arrays) -> Arrays:
        """Products of bfloat16 are exact in float32; the sum is rounded, and then C, if it is
        bfloat16, by at most 2^-8."""
        found = super().permitted(inputs, expected)["c"]
        if self.dtype == BFLOAT16_OUT:
            found = found * (1 + 2.0**-8) + 2.0**-8 * np.abs(expected["c"])
        return {"c": found}

    @property
    def rounding(self) -> float:
        """Tensor cores cut the bits of sums off, so that errors add up."""
        return 8.0 * super().rounding

    def find_dtype(self, inputs: Arrays) -> str:
        """Return "bfloat16"; other arrays are refused by their own type."""
        return "bfloat16"


def torch_matmul(torch: Any, of: dict[str, Any]) -> Callable[[], Any]:
    """Return the product of PyTorch, in float32 and not in TF32, or C in bfloat16."""
    torch.backends.cuda.matmul.allow_tf32 = False
    a, b = of["a"], of["b"]
    if a.dtype == torch.int16:
        a, b = a.view(torch.bfloat16), b.view(torch.bfloat16).t()
    out = torch.empty((a.shape[0], b.shape[1]), dtype=a.dtype, device=a.device)
    return partial(torch.matmul, a, b, out=out)


def triton_product(torch: Any, of: dict[str, Any]) -> Callable[[], Any]:
    """Return the fastest of the Triton templates of Inductor, PyTorch's compiler, which needs half
    a minute the first time. Its result is allocated."""
    import_module("triton")
    config = import_module("torch._inductor.config")
    torch.backends.cuda.matmul.allow_tf32 = False
    a, b = of["a"], of["b"]
    if a.dtype == torch.int16:
        a, b = a.view(torch.bfloat16), b.view(torch.bfloat16).t()
    # Inductor logs templates that do not fit the GPU at length.
    logging.getLogger("torch._inductor").setLevel(logging.CRITICAL)
    choice = config.patch(max_autotune_gemm_backends="TRITON", autotune_num_choices_displayed=0)
    with choice, catch_warnings():
        simplefilter("ignore")
        product = torch.compile(torch.mm, mode="max-autotune-no-cudagraphs", dynamic=False)
        product(a, b)
    return partial(product, a, b)


MATMUL = Product(
    name="matmul",
    summary="C = A B of row-major matrices, without tensor cores",
    axes={"m": 4096, "n": 4096, "k": 4096},
    inputs={"a": "m k", "b": "k n"},
    outputs={"c": "m n"},
    compute=lambda arrays: {"c": arrays["a"] @ arrays["b"]},
    flop=lambda axes: 2 * axes["m"] * axes["n"] * axes["k"],
    awkward=parse_sizes(
        "m n k",
        # Rows not aligned to 16 bytes; tails of every tile; whole tiles; tails.
        "1 1 1, 3 1030 5, 37 45 29, 129 130 131, 1027 7 33, 260 516 100, 256 512 256,385 1284 517",
    ),
    dtypes=("float32", "int32"),
    macros=lambda _, dtype: {"RT_NUMBER": "int"} if dtype == "int32" else {},
    peers=(
        Peer("cuBLAS (PyTorch, TF32 off)", torch_matmul, dtypes=("float32",)),
        Peer("Triton (Inductor)", triton_product, dtypes=("float32",)),
    ),
    note=(
        "TF32 is off for PyTorch too. 2 m n k FLOP: a multiply-add counts as two. From shared "
        "memory: 0.25 FLOP per byte element by element, 2 by outer products of eight."
    ),
)
MATMUL_BF16 = ProductBf16(
    name="matmul_bf16",
    summary="C = A B of bfloat16 matrices, A row-major, B column-major, C in float32",
    axes={"m": 4096, "n": 4096, "k": 4096},
    inputs={"a": "m k", "b": "n k"},
    outputs={"c": "m n"},
    compute=lambda arrays: {"c": from_bfloat16(arrays["a"]) @ from_bfloat16(arrays["b"]).T},
    flop=lambda axes: 2 * axes["m"] * axes["n"] * axes["k"],
    input_type="uint16",  # B by columns
    awkward=parse_sizes(
        "m n k",
        # Rows not aligned to 16 bytes; tails of every tile; whole tiles; tails.
        "1 1 1, 3 1030 5, 37 45 29, 129 131 136, 1027 7 40, 260 518 328, 256 512 512,385 1284 1096",
    ),
    dtypes=("bfloat16", BFLOAT16_OUT),
    peers=(Peer("cuBLAS (PyTorch)", torch_matmul), Peer("Triton (Inductor)", triton_product)),
    note="PyTorch writes C in bfloat16, half the bytes of float32: --dtype bfloat16_out too.",
)

_ALL = (
    ADVECTION, CONTRACTION, *ONE_AXIS, DIFFUSION, HISTOGRAM, HISTOGRAM_BINS, MASS, MATMUL,
    MATMUL_BF16, MATRIXADD, VECADD,
)  # fmt: skip
OPERATIONS: dict[str, Op] = {op.name: op for op in _ALL}
"""All operations by name, sorted."""
