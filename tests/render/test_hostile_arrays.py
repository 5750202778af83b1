"""Arrays that do not fit together are refused before a kernel reads them.

With an extension compiled for AddressSanitizer these tests also see any read that a check missed.
"""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from raytracer import Film, Material, Scene, SphereSet, UserError, _core, render
from raytracer.config.tone_settings import ToneSettings
from raytracer.film.film import tone_arguments
from raytracer.model.settings import RenderSettings
from raytracer.packing.buffers import build_bvh
from raytracer.packing.pack import pack
from raytracer.rendering.pipeline import MAX_NUMBER
from raytracer.system import layout
from support.films import natural

OF_SCENE = (
    *("nodes", "spheres", "order", "color", "color_id", "material_id", "large", "emitters"),
    *("opacity", "sky", "images"),
)
OF_VIEW = ("camera", "lights", "materials", "frame")
NAMES = OF_SCENE + OF_VIEW
COUNT = 300
SIZE: dict[str, Any] = {"width": 40, "height": 24, "samples": 1}


def two_sets() -> Scene:
    """Spheres with a palette and two materials: every array has content."""
    rng = np.random.default_rng(3)
    half = COUNT // 2
    first = SphereSet(rng.random((half, 3)), 0.1, ["red", "blue", "#fff"] * (half // 3))
    return Scene(
        spheres=(first, SphereSet(rng.random((half, 3)), 0.1, material=Material(mirror=0.5)))
    )


def arrays() -> dict[str, Any]:
    """What the kernel reads, by name; memory of its own."""
    buffers = pack(two_sets(), RenderSettings(**SIZE))
    tree = build_bvh(buffers)
    given = {name: getattr(tree, name).copy() for name in ("nodes", "spheres", "order")}
    of_scene = vars(buffers.view) | vars(buffers) | {"color": buffers.color}
    return given | {name: of_scene[name].copy() for name in NAMES if name not in given}


def made(given: dict[str, Any]) -> Any:
    return _core.Scene(**{name: given[name] for name in OF_SCENE})


def rendered(given: dict[str, Any], film: Any) -> None:
    """Check the arrays, and add the view's samples."""
    made(given).render(*(given[name] for name in OF_VIEW), film, 0, 1e9, 2)


def set_item(name: str, place: int, value: int) -> Callable[[dict[str, Any]], None]:
    def change(a: dict[str, Any]) -> None:
        a[name][place] = value

    return change


def set_frame(name: str, value: int) -> Callable[[dict[str, Any]], None]:
    def change(a: dict[str, Any]) -> None:
        part = next(p for p in a["frame"].dtype.names if name in a["frame"].dtype[p].names)
        a["frame"][part][name] = value

    return change


def cut(name: str, length: int) -> Callable[[dict[str, Any]], None]:
    def change(a: dict[str, Any]) -> None:
        a[name] = a[name][:length].copy()

    return change


def set_node(name: str, value: int, slot: int | None = None) -> Callable[[dict[str, Any]], None]:
    def change(a: dict[str, Any]) -> None:
        root = a["nodes"][:1].view(layout.struct_dtype("Node")).reshape(-1)
        if slot is None:
            root[name] = value
        else:
            root[name][0, slot] = value

    return change


def set_images(**numbers: Any) -> Callable[[dict[str, Any]], None]:
    def change(a: dict[str, Any]) -> None:
        lattice = np.zeros(1, layout.struct_dtype("ImageLattice"))
        for name, value in {"counts": 2, "step_bits": 1, "row_bits": 9, **numbers}.items():
            lattice[name] = value
        a["images"] = lattice

    return change


INDICES = {
    f"{name}[{place}] = {value}": set_item(name, place, value)
    for name, place, value in product(
        ("order", "color_id", "material_id"), (0, COUNT - 1), (-1, COUNT, 2**31 - 1, -(2**31))
    )
} | {
    "child before its parent": set_node("child_base", 0),
    "child behind the nodes": set_node("child_base", 2**32 - 1),
    "leaf behind the spheres": set_node("sphere_base", 2**32 - 1),
    "leaf that ends before it begins": set_node("leaf_end", 255, 0),
}

LENGTHS = {f"{name} cut": cut(name, 1) for name in ("order", "spheres", "color_id", "material_id")}
LENGTHS |= {
    "no nodes": cut("nodes", 0),
    "no colours": cut("color", 0),
    "no materials": cut("materials", 0),
    "no camera": cut("camera", 0),
    "no frame": cut("frame", 0),
    "lights": set_frame("light_count", 2),
    "negative lights": set_frame("light_count", -1),
    "materials": set_frame("material_count", 1000),
    "a colour for each sphere": set_frame("color_mode", 1),
    "no such colours": set_frame("color_mode", 3),
    "no such materials": set_frame("material_mode", 7),
    "a sample behind the last": set_frame("sample_begin", 2**31 - 1),
    "a negative sample": set_frame("sample_begin", -5),
    "a crop outside": set_frame("x1", 2**30),
    "an empty crop": set_frame("y1", 0),
    "a crop that begins outside": set_frame("x0", -(2**30)),
    "no picture": set_frame("height", 0),
    "more spheres than positions of images": set_images(row_bits=8),
    "negative bits": set_images(row_bits=-1),
    "more images than steps": set_images(counts=3),
    "no images": set_images(counts=0),
    "steps beyond positions": set_images(step_bits=8),
}


@pytest.mark.parametrize("change", [*INDICES.values(), *LENGTHS.values()], ids=[*INDICES, *LENGTHS])
def test_what_does_not_fit_together_is_refused(change: Callable[[dict[str, Any]], None]) -> None:
    given, film = arrays(), Film.blank(40, 24)
    rendered(given, film.sums)
    change(given)
    before = film.sums.copy()
    with pytest.raises(ValueError, match=r"\w"):
        rendered(given, film.sums)
    np.testing.assert_array_equal(film.sums, before)


@pytest.mark.parametrize("name", ["nodes", "order", "color_id", "material_id", "large"])
def test_indices_changed_after_the_check_change_nothing(name: str) -> None:
    given, first, second = arrays(), Film.blank(40, 24), Film.blank(40, 24)
    given["large"] = np.zeros(1, layout.struct_dtype("LargeSphere"))
    set_frame("large_count", 1)(given)
    scene = made(given)
    view = [given[name] for name in OF_VIEW]
    scene.render(*view, first.sums, 0, 1e9, 2)
    given[name].view(np.uint8)[:] = 0x7F
    scene.render(*view, second.sums, 0, 1e9, 2)
    np.testing.assert_array_equal(first.sums, second.sums)


def test_a_chain_deeper_than_the_stack_is_refused() -> None:
    given = arrays()
    nodes = np.zeros((60, 80), np.uint8)
    chain = nodes.view(layout.struct_dtype("Node")).reshape(-1)
    chain["inner"], chain["child_base"] = 1, np.arange(1, 61)
    chain["inner"][-1] = 0
    given["nodes"] = nodes
    with pytest.raises(ValueError, match="deeper"):
        made(given)


@pytest.mark.parametrize("shape", [(0, 0, 4), (24, 40, 3), (24, 39, 4), (40, 24, 4), (25, 40, 4)])
def test_render_refuses_a_film_of_another_shape(shape: tuple[int, ...]) -> None:
    given = arrays()
    with pytest.raises(ValueError, match="film"):
        rendered(given, np.zeros(shape, np.float32))
    hits = np.zeros((*shape[:2], 47), np.uint8)
    with pytest.raises(ValueError, match="film"):
        made(given).first_hits(given["camera"], given["frame"], hits, 1)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["dtype", "strided", "big-endian", "shifted", "nothing"])
def test_render_refuses_another_dtype_or_order(name: str, kind: str) -> None:
    """Shifted: at an odd address. Nothing: not an array at all."""
    given, film = arrays(), Film.blank(40, 24)
    array = given[name]
    if kind == "dtype":
        given[name] = np.zeros((*array.shape, 2), np.float16)
    elif kind == "strided":
        given[name] = np.repeat(array, 2, axis=0)[::2]
        if len(array) < 2:
            pytest.skip("one item is contiguous")
    elif kind == "big-endian":
        given[name] = np.zeros(array.shape, ">f8")
    elif kind == "shifted":
        if not len(array):
            pytest.skip("nothing is read from it")
        if array.dtype == np.uint8:
            array = array.view(layout.struct_dtype("Node"))
        memory = np.zeros(array.nbytes + 1, np.uint8)[1:]
        memory[:] = array.reshape(-1).view(np.uint8)
        given[name] = memory.view(given[name].dtype).reshape(given[name].shape)
    else:
        given[name] = None
    with pytest.raises((TypeError, ValueError)):
        rendered(given, film.sums)


@pytest.mark.parametrize("first", [MAX_NUMBER, 2**31 - 1, 2**31, 2**40, -1])
def test_sample_numbers_end(first: int) -> None:
    """The last sample that an int32 numbers is rendered, the next one refused."""
    with pytest.raises(UserError, match="numbered from 0 to 2,147,483,646"):
        render(two_sets(), **SIZE, backend="cpu", first_sample=first)
    last = render(two_sets(), **SIZE, backend="cpu", first_sample=MAX_NUMBER - 1)
    assert np.isfinite(last.film.sums).all()


def moved(structs: NDArray[Any], offset: int) -> NDArray[Any]:
    """A copy whose address is that many bytes above a multiple of 16."""
    memory = np.zeros(structs.nbytes + 32, np.uint8)
    begin = -memory.ctypes.data % 16 + offset
    copy: NDArray[Any] = memory[begin : begin + structs.nbytes].view(structs.dtype)
    copy[...] = structs.reshape(copy.shape)
    return copy


@pytest.mark.parametrize("offset", [1, 2, 4])
def test_structs_that_are_not_aligned_are_refused(offset: int) -> None:
    """Those of the tone curve hold numbers of 8 bytes, those of a frame of 4."""
    frame, film = arrays()["frame"], natural(16, 8)
    arguments, histogram = tone_arguments(film, ToneSettings()), np.zeros(1072, np.uint8)
    _core.measure_film(film.sums, moved(arguments, 8), histogram, 1)
    with pytest.raises(TypeError, match="is not aligned"):
        _core.measure_film(film.sums, moved(arguments, offset), histogram, 1)
    if offset == 4:
        assert _core.tile_count(moved(frame, offset)) == _core.tile_count(frame)
    else:
        with pytest.raises(TypeError, match="is not aligned"):
            _core.tile_count(moved(frame, offset))
