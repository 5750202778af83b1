"""Motion blur: each sample of a picture has its own time within the shutter interval.

All samples of one number, in all pixels, are of one time (P. Haeberli, K. Akeley, "The Accumulation
Buffer: Hardware Support for High-Quality Rendering", SIGGRAPH 1990): the spheres move, the tree is
refitted, and the film gets one sample. The mean over the samples is then that over the shutter, for
every integrator and device. Where particles move far, few samples show separate copies of them.

A time depends on the number of its sample and on the seed alone, so n samples and then m more are
n + m samples. Times are the third dimension of Sobol's sequence. Its first two place the samples in
their pixels (kernels/core/sampling.h), so that the three together are stratified.
"""

import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from functools import cache
from hashlib import blake2b

import numpy as np

from raytracer.backends.base import Bands, Device, DeviceFilm, DeviceScene, ProgressCall
from raytracer.config.errors import UserError, prefix_errors
from raytracer.model.motion import freeze_motion
from raytracer.model.scene import Scene
from raytracer.model.sphere_set import SphereSet
from raytracer.packing.buffers import SceneBuffers
from raytracer.packing.pack import bounding_spheres, pack_with_camera, to_render_space
from raytracer.packing.view import View

BITS = 32  # of the numbers of a sequence
SHIFT = 0x55555555  # of times with seed 0: thirds of a stratum, whatever their number
WEYL = 0x9E3779B9  # step of the shift between seeds


def shutter_time(sample: int, seed: int = 0) -> float:
    """Return the time of a sample, from 0 where the shutter opens to below 1 where it closes."""
    bits = (SHIFT + seed * WEYL) % (1 << BITS)
    for number, direction in enumerate(_directions()):
        if sample >> number & 1:
            bits ^= direction
    return float(bits) / (1 << BITS)


@cache
def _directions() -> tuple[int, ...]:
    """Return the direction numbers of Sobol's third dimension, of the polynomial x^2 + x + 1."""
    odd = [1, 3]
    while len(odd) < BITS:
        odd.append(2 * odd[-1] ^ 4 * odd[-2] ^ odd[-2])
    return tuple(each << BITS - 1 - number for number, each in enumerate(odd))


class MotionBlur:
    """Adds samples of moving spheres to films. They move in the memory of the device, if nothing
    else moves and no tables are made of them; otherwise the scene is packed for each sample.
    scene: in the middle of the shutter, as it is on the device between two calls of `add`. Raises
    UserError: a sphere moves too far for float32; or the scene is striped over several GPUs."""

    MOMENTS = 16
    """Number of `moments`."""

    def __init__(self, scene: Scene, buffers: SceneBuffers, device_scene: DeviceScene) -> None:
        if device_scene.striped_over > 1:
            raise UserError(
                "camera.shutter: a scene that is striped over several GPUs does not move: leave "
                "the shutter out"
            )
        assert scene.camera is not None
        self._scene, self._buffers = scene, buffers
        self._shutter, self._space = scene.camera.shutter, buffers.space
        self._in_place = device_scene.can_update and _moves_in_place(scene, buffers)
        with prefix_errors("camera.shutter"):
            for end in (-0.5, 0.5):
                moved = freeze_motion(scene, end * self._shutter)
                to_render_space(bounding_spheres(moved), self._space)

    def digest(self) -> str:
        """Return a hexadecimal hash of the motion."""
        state = blake2b(repr(self._shutter).encode(), digest_size=16)
        for number, spheres in enumerate(self._scene.spheres):
            if spheres.keys is not None:
                state.update(f"{number} {spheres.keys.times}".encode())
                for offsets in spheres.keys.offsets:
                    state.update(np.ascontiguousarray(offsets).data)
        return state.hexdigest()

    def add(
        self,
        film: DeviceFilm,
        device: Device,
        device_scene: DeviceScene,
        view: View,
        samples: int,
        progress: ProgressCall | None = None,
        *,
        first: int | None = None,
        bands: Bands | None = None,
    ) -> float:
        """Add samples to a film, each of a time; return the seconds. Arguments as for
        `DeviceFilm.add`; the scene is in the middle of the shutter, and afterwards again."""
        start = time.perf_counter()
        first = film.samples if first is None else first
        numbers = range(first, first + samples)
        with closing(self._scenes(device, device_scene, view.seed, numbers)) as scenes:
            for done, there in enumerate(scenes):
                film.add(there, view, 1, _report_part(progress, done, samples), first=first + done,
                         bands=bands)  # fmt: skip
        return time.perf_counter() - start

    def moments(
        self, device: Device, device_scene: DeviceScene, view: View
    ) -> Generator[DeviceScene]:
        """Yield the scene on a device at some times, evenly spread over the shutter."""
        return self._scenes(device, device_scene, view.seed, range(self.MOMENTS))

    def _scenes(
        self, device: Device, device_scene: DeviceScene, seed: int, samples: Iterable[int]
    ) -> Generator[DeviceScene]:
        """Yield the scene on a device at the times of samples; then it is in the middle again."""
        try:
            for sample in samples:
                moment = self._shutter * (shutter_time(sample, seed) - 0.5)
                if self._in_place:
                    self._move(device_scene, moment)
                    yield device_scene
                else:
                    with self._pack_moment(moment, device) as there:
                        yield there
        finally:
            if self._in_place:
                self._move(device_scene, 0.0)

    def _pack_moment(self, moment: float, device: Device) -> DeviceScene:
        """Return a scene on a device that is packed at a time."""
        scene = freeze_motion(self._scene, moment)
        buffers, _ = pack_with_camera(scene, placer=device.place, before=self._buffers)
        there = device.scene(buffers, device.build(buffers))
        buffers.release()
        return there

    def _move(self, device_scene: DeviceScene, moment: float) -> None:
        """Move the spheres on a device to a time."""
        for first, spheres in _iterate_moving_sets(self._scene):
            assert spheres.keys is not None
            centers = spheres.keys.at(spheres.centers, moment)
            change = self._space.update([spheres], first, positions=centers)
            device_scene.update(change)


def _report_part(progress: ProgressCall | None, done: int, samples: int) -> ProgressCall | None:
    """Return what a sample calls with the fraction of it that is done."""
    return None if progress is None else lambda share: progress((done + share) / samples)


def _iterate_moving_sets(scene: Scene) -> Iterator[tuple[int, SphereSet]]:
    """Yield the sets that move, with the number of their first sphere in the scene."""
    first = 0
    for spheres in scene.spheres:
        if spheres.keys is not None:
            yield first, spheres
        first += spheres.count


def _moves_in_place(scene: Scene, buffers: SceneBuffers) -> bool:
    """Return whether only spheres move, of which there are no tables."""
    return not any(each.start.keys for each in scene.solids) and not any(
        has_table_entry(scene, spheres, first, buffers)
        for first, spheres in _iterate_moving_sets(scene)
    )


def has_table_entry(scene: Scene, spheres: SphereSet, first: int, buffers: SceneBuffers) -> bool:
    """Return whether spheres of a set, the first of which has this number, are packed in tables: of
    lamps, of glass in which rays start, of large spheres."""
    material, large = scene.material_of(spheres), buffers.large_id.astype(np.int64)
    return (
        getattr(material, "emission", 0.0) > 0.0
        or (buffers.view.nests and getattr(material, "transmission", 0.0) > 0.0)
        or bool(((large >= first) & (large < first + spheres.count)).any())
    )
