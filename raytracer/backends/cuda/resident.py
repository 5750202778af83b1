"""A scene in the memory of one GPU."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Self

from raytracer.backends.cuda import launch
from raytracer.backends.cuda.choose import kernel_for, sample
from raytracer.backends.cuda.context import release
from raytracer.backends.cuda.kernel import CONSTANT_BYTES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from raytracer.backends.cuda.context import PrimaryContext
    from raytracer.buffers import SceneBuffers
    from raytracer.bvh import Bvh
    from raytracer.film import Film
    from raytracer.view import View


class CudaResident:
    """A scene in device memory.

    Of `buffers` and `bvh` it keeps the large spheres, and the others only where they are few enough
    for constant memory: the host may drop the rest.
    """

    def __init__(self, context: PrimaryContext, buffers: SceneBuffers, bvh: Bvh) -> None:
        """Allocate nothing yet; `allocate` and `film` do."""
        self._named: tuple[NDArray[np.void], int, str] | None = None  # camera, height, kernel
        self.count = buffers.count
        self.large = buffers.large
        self.node_count = len(bvh.nodes)
        self.sample = sample(bvh.spheres)
        self.ahead: Film | None = None  # the film whose sums are newer on the device
        self.blank: Film | None = None  # a film whose sums are to be zero, whatever the host has
        self.few_spheres = bvh.spheres if bvh.spheres.nbytes <= CONSTANT_BYTES else None
        self.pacer = launch.Pacer(_first_samples(context))
        self.sizes: dict[str, int] = {}
        self._context = context
        self._allocations: dict[str, Any] = {}
        # Runs at the latest when the process ends, while the context is still there.
        self._free = weakref.finalize(self, release, context, self._allocations)

    @property
    def nbytes(self) -> int:
        """Bytes of device memory that it holds, the film's included."""
        return sum(self.sizes.values())

    def allocate(self, name: str, size: int) -> int:
        """The address of device memory of that name and size in bytes; 0 for an empty one.

        Memory of the same name is used again if the size is the same, else given back.
        """
        if self.sizes.get(name) != size:
            if old := self._allocations.pop(name, None):
                old.free()
            if size:
                self._allocations[name] = self._context.driver.mem_alloc(size)
            self.sizes[name] = size
        return self.address(name)

    def address(self, name: str) -> int:
        """The address of memory that was allocated; 0 for an empty one."""
        return int(self._allocations.get(name, 0))

    def kernel_name(self, view: View) -> str:
        """The render kernel that suits a view; remembered while the camera stays."""
        camera, height = view.camera, view.height
        if self._named is None or self._named[0] is not camera or self._named[1] != height:
            name = kernel_for(self.count, self.node_count, self.sample, camera, height)
            self._named = camera, height, name
        return self._named[2]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the memory back; may be called twice."""
        self._free()
        self.sizes.clear()


def _first_samples(context: PrimaryContext) -> int:
    """The size of the first launch: smaller where a display's watchdog looks on."""
    attribute = context.driver.device_attribute.KERNEL_EXEC_TIMEOUT
    watched = context.device.get_attribute(attribute)
    return launch.FIRST_SAMPLES_WATCHED if watched else launch.FIRST_SAMPLES
