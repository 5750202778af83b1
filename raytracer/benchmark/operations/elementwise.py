"""The sum of two vectors: bound by memory."""

from collections.abc import Callable
from functools import partial
from typing import Any

from raytracer.benchmark.operations.base import Op, Peer, sizes_of


def torch_add(torch: Any, of: dict[str, Any]) -> Callable[[], Any]:
    """Return the addition of PyTorch into allocated memory."""
    return partial(torch.add, of["a"], of["b"], out=torch.empty_like(of["a"]))


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
    awkward=sizes_of("n offset", "1, 3, 255, 1025, 4099, 3 2, 8195 1, 8195 4, 1000003"),
    peers=(Peer("PyTorch add", torch_add),),
    note="12 bytes per addition: bound by memory, or by the L2 cache for small n.",
)

OPS = (VECADD,)
