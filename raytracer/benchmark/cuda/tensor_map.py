"""Tensor maps: how the GPU's bulk copy engine (TMA) cuts boxes out of a matrix.

The driver encodes them on the host (CUDA driver API, cuTensorMapEncodeTiled).
"""

from raytracer.backends.cuda.driver import bindings
from raytracer.benchmark.cuda.timing import SizeError
from raytracer.errors import BackendError

BYTES = 128  # of a CUtensorMap
PITCH = 16  # the bytes from row to row must be a multiple of this
TYPES = {2: 9, 4: 7}  # of matrices, by the bytes of a value: bfloat16 and float32
SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}
PROMOTION = 2  # of what the L2 cache fetches: its lines of 128 bytes


def encode(
    address: int,
    shape: tuple[int, ...],
    size: int,
    box: tuple[int, int],
    swizzle: int = 0,
    pitch: int | None = None,
) -> bytes:
    """The map of a row-major matrix, as the 128 bytes that a kernel takes by value.

    address: on the device, a multiple of 16. shape: rows and columns. size: bytes of a value. box:
        rows and columns that one copy brings, each at most 256; what lies outside of the matrix
        arrives as zeros and is not written. swizzle: 0, 32, 64 or 128; a row of the box then has
        at most that many bytes.
    pitch: values from row to row; by default those of a row.
    Raises SizeError where rows are no multiple of 16 bytes, BackendError for what the driver
    refuses.
    """
    rows, cols = shape
    row_bytes = (cols if pitch is None else pitch) * size
    if row_bytes % PITCH:
        raise SizeError(f"TMA needs rows of a multiple of {PITCH} bytes; these have {row_bytes}")
    driver = bindings()
    try:
        made = driver.tensor_map(
            TYPES[size], address, (cols, rows), row_bytes, box[::-1], SWIZZLES[swizzle], PROMOTION
        )
    except BackendError as error:
        raise BackendError(
            f"the driver refuses a tensor map of {rows} x {cols} values of {size} bytes with boxes "
            f"of {box[0]} x {box[1]} and swizzle {swizzle} ({error})"
        ) from error
    return bytes(made)
