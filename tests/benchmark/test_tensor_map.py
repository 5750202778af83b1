"""Tensor maps on a GPU: the copy engine swizzles a box as the documentation says."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from conftest import backend_missing
from raytracer.benchmark.cuda.kernel import LoadedKernel
from raytracer.benchmark.cuda.session import Memory, RefusedError, Session, SizeError
from raytracer.benchmark.user_kernel import adopt
from raytracer.config.errors import RaytracerError

ROWS = 64
HEADER = """// title: a box
// idea: shows shared memory as the copy engine leaves it
// block: 32
// grid: 1
// maps: a 64x{values} swizzle{swizzle}
// needs: sm_90a, sm_120
// source: own
"""
BODY = """#include "../matmul/tma.cuh"

__constant__ CUtensorMap c_map_a;

extern "C" __global__ void __launch_bounds__(32)
    boxes(const void*, uint4* out, long long row, long long col) {
  __shared__ __align__(1024) unsigned char box[64 * 128];
  __shared__ Barrier landed;
  if (threadIdx.x == 0) {
    make_barrier(&landed, 1);
    publish_barriers();
    expect(&landed, 64 * BYTES);
    copy_box(box, &c_map_a, (int)row, (int)col, &landed);
  }
  __syncthreads();
  wait(&landed, 0);
  for (int i = threadIdx.x; i < 64 * BYTES / 16; i += 32) out[i] = ((const uint4*)box)[i];
}
"""


def model(offsets: NDArray[np.int64], row_bytes: int) -> NDArray[np.int64]:
    """The bits of an offset that count the 16-byte pieces of a row, XOR bits 7 and up."""
    swizzled = offsets.copy()
    for bit in range({64: 2, 128: 3}[row_bytes]):
        swizzled ^= ((offsets >> (7 + bit)) & 1) << (4 + bit)
    return swizzled


def write(folder: Path, swizzle: int, values: int) -> Path:
    path = folder / "box.cu"
    body = BODY.replace("BYTES", str(swizzle))
    path.write_text(HEADER.format(swizzle=swizzle, values=values) + body, encoding="utf-8")
    return path


@pytest.mark.gpu
@pytest.mark.parametrize("swizzle", [64, 128])
def test_copy_engine_swizzles_as_the_model(tmp_path: Path, swizzle: int) -> None:
    if reason := backend_missing("cuda"):
        pytest.skip(f"cuda: {reason}")
    op: Any = SimpleNamespace(name="boxes")
    (tmp_path / "kernels").mkdir()
    values = swizzle // 2
    variant = adopt(op, write(tmp_path, swizzle, values), tmp_path / "kernels")
    matrix = np.arange(100 * 200, dtype=np.uint16).reshape(100, 200)
    row, col = 50, 8  # the box reaches past the last row: zeros
    wanted = np.zeros((ROWS, values), np.uint16)
    wanted[: 100 - row] = matrix[row:, col : col + values]
    offsets = np.arange(wanted.nbytes)
    with Session() as session:
        if not variant.admits(session.arch):
            pytest.skip(f"TMA: needs sm_90 or sm_120, this is {session.arch}")
        kernel = LoadedKernel(session, variant, {})
        with Memory(session, {"a": matrix.nbytes, "out": wanted.nbytes}) as memory:
            memory.upload("a", matrix)
            address = memory.address("a")
            kernel.fill({"a": (address, matrix.shape, 2)})
            kernel.bind({}, [address, memory.address("out")], (row, col))()
            found = np.empty(wanted.nbytes, np.uint8)
            memory.download("out", found)
            with pytest.raises(SizeError, match="multiple of 16"):
                kernel.fill({"a": (address, (100, 201), 2)})
    assert (found[model(offsets, swizzle)] == wanted.view(np.uint8).ravel()).all()


def test_a_refused_kernel_is_an_error_of_the_package() -> None:
    """Callers of `raytracer.bench` catch it with all others."""
    assert issubclass(SizeError, RefusedError)
    assert issubclass(RefusedError, RaytracerError)
