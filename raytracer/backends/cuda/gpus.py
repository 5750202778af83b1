"""Several GPUs as one device, also for scenes that one of them cannot hold."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial

from raytracer.backends.cuda import striped
from raytracer.backends.cuda.context import primary_context
from raytracer.backends.cuda.memory import RECORD_BYTES
from raytracer.backends.cuda.run import CudaDevice
from raytracer.backends.cuda.scene import CudaScene
from raytracer.backends.cuda.tree import build_sizes
from raytracer.backends.group import DeviceGroup, GroupScene, together
from raytracer.buffers import Bvh, Columns, DeviceRecords, SceneBuffers
from raytracer.errors import BackendError, MemoryNeedError
from raytracer.sphere_update import SphereUpdate


class StripedScene(GroupScene):
    """A scene whose large arrays are striped over the GPUs of a group, and read by all of them."""

    def __init__(
        self, buffers: SceneBuffers, shared: CudaScene, scenes: Sequence[CudaScene]
    ) -> None:
        """Keep the scene that has the striped arrays, and those that read them, one per GPU."""
        super().__init__(buffers, scenes)
        self.striped_over = len(scenes)
        self.can_update = False
        self._shared = shared
        self.tree_nbytes = shared.tree_nbytes + sum(
            scene._memory.size("nodes") for scene in scenes[1:]
        )

    @property
    def nbytes(self) -> int:
        return super().nbytes + self._shared.nbytes

    def close(self) -> None:
        super().close()
        self._shared.close()


class GpuGroup(DeviceGroup):
    """GPUs that divide pictures, each with a copy of the scene; one that is too large is striped,
    with a tree that the first GPU builds."""

    devices: Sequence[CudaDevice]

    def __init__(self, devices: Sequence[CudaDevice], is_striped: bool | None = None) -> None:
        """Take the GPUs. is_striped: whether scenes are striped, but those of few spheres, whose
        trees the host builds; None: those that are too large."""
        super().__init__(devices)
        self._is_striped = is_striped

    def place(
        self, spheres: Sequence[SphereUpdate], colors: Sequence[SphereUpdate],
        on_host: Callable[[slice], Columns],
    ) -> DeviceRecords | None:  # fmt: skip
        """Pack spheres on the first GPU, in striped memory where their scene will be striped."""
        first, numbers = self.devices[0], [device.number for device in self.devices]
        is_striped, count = self._is_striped, sum(each.count for each in spheres)
        if is_striped is None:
            need = sum(build_sizes(count, RECORD_BYTES).values()) + RECORD_BYTES * count
            is_striped = need > primary_context(first.number).memory()[0]
        gpus = numbers if is_striped and not striped.why_not(numbers) else ()
        return first.place(spheres, colors, on_host, gpus)

    def scene(self, buffers: SceneBuffers, tree: Bvh | None = None) -> GroupScene:
        tree = self.build(buffers) if tree is None else tree
        if tree is not None or self._is_striped is False:
            return super().scene(buffers, tree)
        numbers = [device.number for device in self.devices]
        if not self._is_striped:
            try:
                return super().scene(buffers)
            except MemoryNeedError as error:
                if reason := striped.why_not(numbers):
                    raise MemoryNeedError(
                        f"{error}; it cannot be striped over the GPUs either: {reason}"
                    ) from None
        elif reason := striped.why_not(numbers):
            raise BackendError(f"memory cannot be striped over these GPUs: {reason}")
        return self._striped(buffers, numbers)

    def _striped(self, buffers: SceneBuffers, numbers: Sequence[int]) -> StripedScene:
        def seen(number: int) -> CudaScene:
            scene = stack.enter_context(shared.seen_from(number))
            scene.kernel(buffers.view)  # loads it
            return scene

        with ExitStack() as stack:  # closes them if that of one GPU cannot be made
            shared = stack.enter_context(self.devices[0].begun(buffers, None, numbers))
            for device in self.devices:
                device.check(shared, buffers, len(numbers))
            shared.upload()
            scenes = together([partial(seen, number) for number in numbers])
            shared.free_copied()
            stack.pop_all()
        return StripedScene(buffers, shared, scenes)
