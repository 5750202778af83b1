"""Several GPUs as one: each has a copy of the scene and renders some rows of every film.

A scene that one of them cannot hold is striped over all. Rows are divided statically. Bands of
neighbouring rows take about the same time, so that devices of one kind end together; and the
samples of a pixel are added by one device in their order, so that the film has the bytes of one
device, for any number of them.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from math import ceil
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from raytracer.backends.base import Bands, Device, DeviceFilm, DeviceScene, Picture, ProgressCall
from raytracer.backends.cuda import striped_memory
from raytracer.backends.cuda.driver import get_primary_context
from raytracer.backends.cuda.memory import RECORD_BYTES
from raytracer.backends.cuda.run import CudaDevice
from raytracer.backends.cuda.scene import CudaScene
from raytracer.backends.cuda.tree import compute_build_sizes
from raytracer.config.errors import BackendError, MemoryNeedError, SceneError
from raytracer.config.tone_settings import ToneSettings
from raytracer.film.film import Developed, Film
from raytracer.packing.buffers import Bvh, DeviceRecords, SceneBuffers, SphereColumns
from raytracer.packing.sphere_update import SphereUpdate
from raytracer.packing.view import View
from raytracer.system.cuda_driver import LEGACY_STREAM, order_streams
from raytracer.system.device_array import DeviceArray

Result = TypeVar("Result")

BAND_HEIGHT = 32  # heights of bands are multiples of this
MAX_BANDS = 256  # maximum number of bands of a film


def divide_rows(height: int, count: int) -> list[list[tuple[int, int]]]:
    """Return the bands of a film that each of some devices renders, from everywhere in it. Those of
    a device begin in the middle, where pictures show most: what is left at its end is soon
    rendered."""
    step = ceil(height / (MAX_BANDS * BAND_HEIGHT)) * BAND_HEIGHT
    bands = [(y, min(y + step, height)) for y in range(0, height, step)]
    shares = (bands[first::count] for first in range(min(count, len(bands))))
    return [sorted(share, key=lambda band: abs(sum(band) - height)) for share in shares]


def call_together(
    calls: Sequence[Callable[[], Result]], failures: list[BaseException] | None = None
) -> list[Result]:
    """Make calls at the same time, the first one in this thread, and return their results.

    failures: takes what calls raise, for those that shall end when another one fails. Raises the
    first of the failures, after all calls have ended.
    """
    failures = [] if failures is None else failures

    def result_of(call: Callable[[], Result]) -> Any:
        try:
            return call()
        except BaseException as error:
            failures.append(error)

    with ThreadPoolExecutor(max(len(calls) - 1, 1), "devices") as pool:
        others = [pool.submit(copy_context().run, result_of, call) for call in calls[1:]]
        results = [result_of(call) for call in (calls[0], *(other.result for other in others))]
    if failures:
        raise failures[0]
    return results


class GroupScene(DeviceScene):
    """A scene in the memory of each device of a group; or those that read the large arrays of one,
    `shared`, which are striped over all."""

    def __init__(
        self, buffers: SceneBuffers, scenes: Sequence[DeviceScene], shared: CudaScene | None = None
    ) -> None:
        super().__init__(buffers)
        self.scenes, self._all = scenes, [*scenes, *([shared] if shared else [])]
        self.striped_over = len(scenes) if shared else 1
        self.can_update = all(scene.can_update for scene in scenes) and shared is None
        self.tree_nbytes = sum(scene.tree_nbytes for scene in self._all)

    @property
    def nbytes(self) -> int:
        return sum(scene.nbytes for scene in self._all)

    def update(self, spheres: SphereUpdate) -> None:
        """Move the spheres on every device: the others get copies of the host of what the first one
        reads on a GPU, which are checked at once. Where they are wrong, no device has moved."""
        if spheres.in_graph:
            raise SceneError("stream: a scene on several GPUs is updated outside of CUDA graphs")
        copies: dict[str, Any] = {}
        for name in ("positions", "radii", "colors"):
            if isinstance(each := getattr(spheres, name), DeviceArray):
                # Arrays are copied to the host on the default stream.
                order_streams(LEGACY_STREAM, spheres.stream or LEGACY_STREAM, each.device or 0)
                copies[name] = each.to_host()
        for scene in self.scenes[1:]:
            scene.update(replace(spheres, **copies))
        self.scenes[0].update(spheres)

    def wait(self) -> None:
        for scene in self.scenes:
            scene.wait()

    def find_moved_radii(self) -> tuple[float, float]:
        return self.scenes[0].find_moved_radii()

    def describe(self, view: View) -> dict[str, Any]:
        return self.scenes[0].describe(view)

    def _trace_first_hits(self, view: View) -> NDArray[np.void]:
        return self.scenes[0]._trace_first_hits(view)

    def count_visible_points(self, view: View, count: int) -> NDArray[np.void]:
        return self.scenes[0].count_visible_points(view, count)

    def _replace_sky(self, sky: NDArray[np.void]) -> None:
        for scene in self.scenes:
            scene.set_sky(sky)

    def close(self) -> None:
        for scene in self._all:
            scene.close()


class GroupFilm(DeviceFilm):
    """A film of each device, of whose rows it renders some; that of the first one takes the rows of
    the others when a picture is developed. All share the sums of the host."""

    def __init__(self, devices: Sequence[CudaDevice], host: Film) -> None:
        super().__init__(host)
        others = [device.film(replace(host)) for device in devices[1:]]
        self._films = [devices[0].film(host), *others]
        self._shares: list[Bands | None] = []  # rows of each film to which samples were added last
        self._is_divided = False  # whether the first film lacks the samples of others
        self._is_on_host = True  # whether the host has all samples

    def _accumulate(
        self, scene: DeviceScene, view: View, progress: ProgressCall | None, bands: Bands | None
    ) -> float:
        """Add the view's samples on all devices at once; `progress` is called in this thread. After
        an error the film has the sums of the host, or none if those are older."""
        if not isinstance(scene, GroupScene):
            raise TypeError(f"a film of several devices takes no {type(scene).__name__}")
        shares = self._divide(view, bands)
        done, failures = [0.0] * len(shares), list[BaseException]()

        def report(number: int, fraction: float) -> None:
            done[number] = fraction
            if failures:
                raise InterruptedError
            if progress is not None and number == 0:
                progress(sum(done) / len(done))

        parts = enumerate(zip(self._films, scene.scenes, shares, strict=False))
        calls = [
            partial(film._accumulate, each, view, partial(report, number), share)
            for number, (film, each, share) in parts
        ]
        samples, counts = self.host.samples, self.host.counts
        try:
            seconds = call_together(calls, failures)
            if progress is not None:
                progress(1.0)
        except BaseException:
            if self._is_on_host:
                self.restore(self.host.sums)
                self.host.samples, self.host.counts = samples, counts
            else:
                self.clear()
            raise
        self._is_divided, self._is_on_host = len(shares) > 1, False
        return max(seconds)

    def _divide(self, view: View, bands: Bands | None) -> list[Bands | None]:
        """Return the rows of each device that gets some; a draft, which is filtered, is not cut."""
        count, shares = len(self._films), list[Bands | None]([None])
        if bands:
            self.to_host()  # of the other rows
            shares = [bands[first::count] for first in range(min(count, len(bands)))]
        elif not view.draft:
            shares = [*divide_rows(len(self.host.sums), count)]
        if self.host.samples and shares != self._shares:
            self.restore(self.to_host().sums)  # other devices go on with these samples
        self._shares = shares
        return shares

    def to_host(self, bands: Bands | None = None) -> Film:
        """Copy the sums from all devices at once."""
        if not self._is_on_host:
            shares = self._shares if self._is_divided else [None]
            parts = zip(self._films, shares, strict=False)
            call_together([partial(film.to_host, share) for film, share in parts])
        self._is_on_host = True
        return self.host

    def _merge_films(self) -> DeviceFilm:
        """Return the film of the first device, with the samples of all."""
        first, *others = self._films
        for film, share in zip(others, self._shares[1:] if self._is_divided else (), strict=False):
            assert share is not None
            first.copy_rows(film, share)
        self._is_divided = False
        first._neighbor_weight = self._neighbor_weight
        return first

    def develop(self, settings: ToneSettings, bits: int = 8, *, measured: bool = True) -> Developed:
        return self._merge_films().develop(settings, bits, measured=measured)

    def develop_into(self, settings: ToneSettings, picture: Any) -> None:
        self._merge_films().develop_into(settings, picture)

    def copy_sums(self, reader: int) -> DeviceArray:
        return self._merge_films().copy_sums(reader)

    def clear(self) -> None:
        for film in self._films:
            film.clear()
        self._is_divided = self._is_on_host = False

    def restore(self, sums: NDArray[np.float32]) -> None:
        self.host.sums[:] = sums
        for film in self._films:
            film.restore(self.host.sums)
        self._is_divided, self._is_on_host = False, True

    def close(self) -> None:
        if self._is_on_host:  # films that are closed drop samples that they alone have
            self.restore(self.host.sums)
        self._is_divided = False
        for film in self._films:
            film.close()


class DeviceGroup:
    """Devices of one kind; what it does not divide, the first of them does."""

    def __init__(self, devices: Sequence[CudaDevice], is_striped: bool | None = None) -> None:
        """Take the GPUs. is_striped: whether scenes are striped, but those of few spheres, whose
        trees the host builds; None: those that are too large."""
        self.devices, self._is_striped = devices, is_striped
        first = devices[0]
        self.name, self.number = first.name, first.number
        self.max_spheres, self.has_own_memory = first.max_spheres, first.has_own_memory
        self.pass_seconds, self.budget = first.pass_seconds, first.budget

    def describe(self) -> dict[str, Any]:
        """Return the description of the device with the least free memory, and the names of all."""
        each = [device.describe() for device in self.devices]
        names = Counter(about["device"] for about in each)
        fullest = min(each, key=lambda about: about.get("memory_free", 0))
        return fullest | {"device": ", ".join(f"{n} x {name}" for name, n in names.items())}

    def compile_ahead(self) -> None:
        for device in self.devices:
            device.compile_ahead()

    def place(
        self, spheres: Sequence[SphereUpdate], colors: Sequence[SphereUpdate],
        on_host: Callable[[slice], SphereColumns],
    ) -> DeviceRecords | None:  # fmt: skip
        """Pack spheres on the first GPU, in striped memory where their scene will be striped."""
        first, numbers = self.devices[0], [device.number for device in self.devices]
        is_striped, count = self._is_striped, sum(each.count for each in spheres)
        if is_striped is None:
            need = sum(compute_build_sizes(count, RECORD_BYTES).values()) + RECORD_BYTES * count
            is_striped = need > get_primary_context(first.number).measure_memory()[0]
        gpus = numbers if is_striped and not striped_memory.explain_missing(numbers) else ()
        return first.place(spheres, colors, on_host, gpus)

    def build(self, buffers: SceneBuffers) -> Bvh | None:
        return self.devices[0].build(buffers)

    def scene(self, buffers: SceneBuffers, tree: Bvh | None = None) -> GroupScene:
        tree, numbers = tree or self.build(buffers), [device.number for device in self.devices]
        if tree is not None or not self._is_striped:
            try:
                return self._copy_scene(buffers, tree)
            except MemoryNeedError as error:
                if tree is not None or self._is_striped is False:
                    raise
                if reason := striped_memory.explain_missing(numbers):
                    raise MemoryNeedError(
                        f"{error}; it cannot be striped over the GPUs either: {reason}"
                    ) from None
        elif reason := striped_memory.explain_missing(numbers):
            raise BackendError(f"memory cannot be striped over these GPUs: {reason}")
        return self._stripe_scene(buffers, numbers)

    def _copy_scene(self, buffers: SceneBuffers, tree: Bvh | None) -> GroupScene:
        def made(device: Device) -> DeviceScene:
            return stack.enter_context(device.scene(buffers, tree))

        with ExitStack() as stack:  # closes them if that of one device cannot be made
            scenes = call_together([partial(made, device) for device in self.devices])
            stack.pop_all()
        return GroupScene(buffers, scenes)

    def _stripe_scene(self, buffers: SceneBuffers, numbers: Sequence[int]) -> GroupScene:
        """Return a scene with a tree that the first GPU builds."""

        def seen(number: int) -> CudaScene:
            scene = stack.enter_context(shared.share_with(number))
            scene.find_kernel(buffers.view)  # loads it
            return scene

        with ExitStack() as stack:
            shared = stack.enter_context(self.devices[0].begin_scene(buffers, None, numbers))
            for device in self.devices:
                device.check(shared, buffers, len(numbers))
            shared.upload()
            scenes = call_together([partial(seen, number) for number in numbers])
            shared.free_copied()
            stack.pop_all()
        return GroupScene(buffers, scenes, shared)

    def film(self, host: Film) -> GroupFilm:
        return GroupFilm(self.devices, host)

    def picture(self) -> Picture:
        return self.devices[0].picture()

    @contextmanager
    def turn(self) -> Iterator[None]:
        with ExitStack() as turns:
            for device in self.devices:
                turns.enter_context(device.turn())
            yield
