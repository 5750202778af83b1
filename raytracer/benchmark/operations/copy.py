"""Copies between host and device, and on the device."""

from __future__ import annotations

from raytracer.benchmark.operations.base import Arrays, Axes, Op, Output, Work, draw


class Copy(Op):
    """Host to device and back, pageable and page-locked, by the driver alone."""

    name = "copy"
    summary = "host to device and back, pageable and page-locked, and on the device"
    axes = {"n": 1 << 28}  # bytes  # noqa: RUF012
    awkward = ({"n": 1}, {"n": 4099})
    dtypes = ("uint8",)
    distributions = ("normal", "uniform", "constant", "zeros")
    note = "A byte counts once over the bus, and twice (read and written) on the device."

    def inputs(self, axes: Axes, dtype: str, distribution: str, seed: int) -> Arrays:
        """Bytes (n,)."""
        return {"a": draw((axes["n"],), dtype, distribution, seed)}

    def input_shapes(self, axes: Axes) -> dict[str, tuple[int, ...]]:
        """Bytes (n,)."""
        return {"a": (axes["n"],)}

    def outputs(self, axes: Axes, dtype: str) -> dict[str, Output]:
        """The same bytes (n,)."""
        return {"b": Output((axes["n"],), dtype)}

    def reference(self, inputs: Arrays) -> Arrays:
        """The input."""
        return {"b": inputs["a"]}

    def cpu(self, inputs: Arrays) -> Arrays:
        """Copy by NumPy."""
        return {"b": inputs["a"].copy()}

    def tolerance(self, axes: Axes, dtype: str) -> float:
        """Require equality of every byte."""
        return 0.0

    def work(self, axes: Axes, dtype: str) -> Work:
        """Read once and written once; nothing is computed."""
        return Work(0, axes["n"], axes["n"])


OP = Copy()
