"""Page-locked arrays: whose they are, when they come back, and what is copied into them."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import raytracer
from raytracer.backends.cuda import driver, transfer
from raytracer.backends.cuda.transfer import MAX_ARRAYS, MIN_BYTES, PageLockedPool
from raytracer.config.errors import BackendError
from raytracer.film.film import Film
from support.commands import python
from support.fake_cuda import FakeDriver

SIZE = MIN_BYTES + 12  # no multiple of a page


class Locks:
    """The driver's locks, and the context in which they are made."""

    def __init__(self) -> None:
        self.held: dict[int, int] = {}
        self.depth, self.is_refused = 0, False
        self.driver = FakeDriver({}, lambda *_: None)

    def call(self, name: str, address: Any, *more: Any) -> None:
        assert self.depth, "a context is current"
        if self.is_refused:
            raise BackendError("CUDA failed: operation not supported")
        if name == "cuMemHostUnregister":
            del self.held[address]
            return
        size, flags = more
        assert (name, flags) == ("cuMemHostRegister", 1)
        page = transfer.PAGE
        pages = {
            p for at, n in self.held.items() for p in range(at // page, (at + n - 1) // page + 1)
        }
        assert address % page == 0
        assert not pages & set(range(address // page, (address + size) // page + 1))
        self.held[address] = size

    @contextmanager
    def activate(self) -> Iterator[FakeDriver]:
        self.depth += 1
        self.driver._push()
        try:
            yield self.driver
        finally:
            self.driver._pop()
            self.depth -= 1


@pytest.fixture
def locks(monkeypatch: pytest.MonkeyPatch) -> Locks:
    locks = Locks()
    monkeypatch.setattr(transfer, "call", locks.call)
    return locks


@pytest.fixture
def pool(locks: Locks) -> Iterator[PageLockedPool]:
    with locks.activate():
        pool = PageLockedPool(locks)  # type: ignore[arg-type]
        yield pool
    transfer._unlock_all(locks, pool._locked)  # type: ignore[arg-type]
    assert not locks.held


def address_of(array: NDArray[Any] | None) -> int:
    assert array is not None
    return int(array.ctypes.data)


def test_memory_comes_back_when_no_view_is_left(pool: PageLockedPool, locks: Locks) -> None:
    pool.empty(SIZE)
    array = pool.empty(SIZE)
    assert array is not None
    place = address_of(array)
    view: Any = array.view(np.uint16).reshape(-1, 2)[::3]
    view[:] = 7
    del array
    others = [pool.empty(SIZE), pool.empty(SIZE)]
    assert place not in map(address_of, others)
    for other in others:
        assert other is not None
        other[:] = 0
    assert (view == 7).all()
    view = memoryview(view)
    assert place != address_of(pool.empty(SIZE))
    del view, other
    others.clear()
    gc.collect()
    again = [pool.empty(SIZE) for _ in range(4)]
    assert place in map(address_of, again)
    assert len(locks.held) == 4, "no more were locked"


def test_who_keeps_arrays_gets_ordinary_ones(pool: PageLockedPool, locks: Locks) -> None:
    kept = [pool.empty(SIZE) for _ in range(MAX_ARRAYS + 5)]
    assert [array is not None for array in kept] == [False] + [True] * MAX_ARRAYS + [False] * 4
    kept[3] = None
    assert pool.empty(SIZE) is not None
    assert len(locks.held) == MAX_ARRAYS


# on a GPU

WIDE: dict[str, Any] = {"width": 256, "height": 160, "samples": 1}  # pixels of 160 KiB


@pytest.fixture
def live(cuda: str) -> Iterator[raytracer.LiveScene]:
    positions = np.random.default_rng(2).uniform(-1.0, 1.0, (2000, 3))
    scene = raytracer.Scene.from_arrays(positions, 0.05)
    with raytracer.LiveScene(scene, backend=cuda, **WIDE) as live:
        yield live


def locked(size: int = 4 * WIDE["width"] * WIDE["height"]) -> set[int]:
    """The addresses of page-locked arrays of pictures."""
    arrays = transfer.get_staging(0)._pool._locked
    return {address for address, memory in arrays.items() if memory.size == size}


def developed(live: raytracer.LiveScene) -> NDArray[np.uint8]:
    """The picture that is developed with its histogram."""
    job = live._open()
    with job.device.film(Film.blank(WIDE["width"], WIDE["height"])) as film:
        return np.asarray(job.render(film, tone=live._tone, bits=8).pixels(), np.uint8)


@pytest.mark.gpu
def test_pixels_are_page_locked_and_those_of_a_film_with_a_histogram(
    live: raytracer.LiveScene,
) -> None:
    expected = developed(live)
    found = [live.pixels() for _ in range(3)]
    assert {address_of(each) for each in found[1:]} <= locked()
    for each in found:
        assert np.array_equal(each, expected)


@pytest.mark.gpu
def test_pixels_that_are_kept_stay_as_they_are(live: raytracer.LiveScene) -> None:
    rng, kept = np.random.default_rng(3), list[tuple[NDArray[np.uint8], bytes]]()
    for step in range(3 * MAX_ARRAYS):
        live.update(rng.uniform(-1.0, 1.0, (2000, 3)))
        pixels = live.pixels()
        assert pixels.tobytes() == developed(live).tobytes()
        if step % 2:
            kept.append((pixels[::2, :, :3], pixels[::2, :, :3].tobytes()))
        del pixels
    for part, expected in kept:
        assert part.tobytes() == expected
    assert len({expected for _, expected in kept}) == len(kept)
    assert len(locked()) <= MAX_ARRAYS


@pytest.mark.gpu
@pytest.mark.parametrize(
    "tone", [{"exposure": "auto", "tone": "aces"}, {"exposure": 2.0}, {"bloom": 0.3}]
)
def test_pixels_have_the_tone_of_render(cuda: str, tone: dict[str, Any]) -> None:
    scene = raytracer.Scene.from_arrays(np.zeros((1, 3)), 1.0)
    with raytracer.LiveScene(scene, backend=cuda, tone=tone, **WIDE) as live:
        assert live.pixels().tobytes() == developed(live).tobytes()


@pytest.mark.gpu
def test_pixels_are_those_of_a_driver_that_locks_nothing(
    live: raytracer.LiveScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = live.pixels()
    monkeypatch.setattr(transfer.get_staging(0)._pool, "_is_refused", True)
    for _ in range(2):
        pixels = live.pixels()
        assert address_of(pixels) not in locked()
        assert np.array_equal(pixels, expected)


@pytest.mark.gpu
def test_pixels_can_be_read_as_the_process_ends(cuda: str) -> None:
    """With each binding: arrays are valid after the context was given back."""
    program = f"""
import atexit
kept = []
atexit.register(lambda: print(sum(int(each.sum()) for each in kept)))  # the last to be called
import numpy as np, raytracer
scene = raytracer.Scene.from_arrays(np.zeros((1, 3)), 1.0)
with raytracer.LiveScene(scene, backend="cuda", **{WIDE}) as live:
    kept += [live.pixels() for _ in range(3)]
print(sum(int(each.sum()) for each in kept))
"""
    for name, module in driver.MODULES.items():
        try:
            import_module(module)
        except ImportError:
            continue
        first, last = python("-c", program, env={driver.VARIABLE: name}).stdout.split()
        assert first == last
