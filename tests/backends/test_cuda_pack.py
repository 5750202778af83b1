"""Spheres packed from arrays by the kernel, compared with the host's packing.

The kernel is compiled for the CPU, so that all of its arithmetic is tested without a GPU.
"""

import ctypes
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from raytracer import ColorScale, Transform, UserError
from raytracer._native import core
from raytracer.backends.cuda.pack import (
    PackReport,
    collect_arrays,
    decode_info,
    describe_array,
    make_pack_arguments,
)
from raytracer.model.colors import linear_rgb, srgb_to_linear
from raytracer.model.render_space import Space
from raytracer.packing.sphere_update import SphereUpdate
from raytracer.system import layout
from raytracer.system.device_array import DeviceArray
from support.device_arrays import KINDS, SPACE, STRIDES, TURNED, check_packed, hosts, numbers
from support.libraries import FOR_CUDA, kernel, library

BLOCKS, THREADS = 3, 64
COUNT = 1000
SETTING = {
    "as it is": Transform(),
    "scaled": Transform(scale=0.3, translate=(1.0, 2.0, 3.0)),
    "a quarter turn": Transform(rotate=(0.0, 90.0, 0.0)),
    "turned": TURNED,
}

Records = tuple[NDArray[np.float32], NDArray[np.float32], PackReport]
Pack = Callable[..., Records]
Launch = Callable[[int, int, NDArray[np.void]], None]


@pytest.fixture(scope="module")
def launch(libraries: Path) -> Launch:
    """Takes blocks, threads of a block and PackArgs (1,)."""
    packs = kernel(libraries, "pack_spheres", "PackArgs")
    return lambda blocks, threads, args: packs.go(
        blocks, threads, ctypes.c_uint64(args.ctypes.data)
    )


@pytest.fixture(scope="module")
def pack(launch: Launch) -> Pack:
    """Takes a SphereUpdate, and records and colours before; returns both after, and info."""

    def run(update: SphereUpdate, records: Any = None, color: Any = None) -> Records:
        records = np.zeros((update.count, 4), np.float32) if records is None else records.copy()
        color = np.zeros((update.count, 3), np.float32) if color is None else color.copy()
        info = np.full(layout.struct_dtype("PackInfo").itemsize, 0xFF, np.uint8)
        arguments = make_pack_arguments(update, here(update))
        if update.color_map is not None:
            arguments["table"] = update.color_map.table.ctypes.data
        for name, array in (("records", records), ("color", color), ("info", info)):
            arguments[name] = array.ctypes.data
        launch(BLOCKS, THREADS, arguments)
        return records, color, decode_info(info.view(layout.struct_dtype("PackInfo")))

    return run


def here(update: SphereUpdate) -> dict[str, DeviceArray | None]:
    """The arrays of an update by name, as if they lay on a GPU."""
    arrays: dict[str, Any] = dict(collect_arrays(update))
    return {name: None if each is None else describe_array(each) for name, each in arrays.items()}


LAYOUTS: dict[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
    "packed": lambda a: np.ascontiguousarray(a),
    **STRIDES,
    "one row for all": lambda a: np.broadcast_to(a[:1], a.shape),
}


def moved(
    positions: Any, radii: Any = None, transform: Transform = SETTING["as it is"], **more: Any
) -> SphereUpdate:
    """An update of spheres with a transform, in a space in which bytes are compared."""
    linear, offset = SPACE.affine_from(transform)
    count = len(radii if positions is None else positions)
    return SphereUpdate(
        0, count, positions, None if radii is None else np.atleast_1d(radii), None, "srgb", 0,
        linear, offset, transform.scale / SPACE.scale, **more,
    )  # fmt: skip


def colored(colors: Any, color_space: str = "srgb", **more: Any) -> SphereUpdate:
    return replace(
        moved(None, np.ones(len(colors))), radii=None, colors=colors, color_space=color_space,
        **more,
    )  # fmt: skip


@pytest.mark.parametrize("setting", SETTING)
@pytest.mark.parametrize("kind", KINDS)
def test_records_have_the_bytes_of_the_host(pack: Pack, kind: str, setting: str) -> None:
    positions, radii = numbers(kind, (COUNT, 3)), np.abs(numbers(kind, (COUNT,), 2))
    transform = SETTING[setting]
    records, _, info = pack(moved(positions, radii, transform))
    check_packed(records, info, hosts(positions, radii, transform))


@pytest.mark.parametrize("order", LAYOUTS)
@pytest.mark.parametrize("kind", ["float32", "float64", "float16"])
def test_arrays_of_any_layout(pack: Pack, kind: str, order: str) -> None:
    positions = LAYOUTS[order](numbers(kind, (COUNT, 3)))
    radii = LAYOUTS[order](np.abs(numbers(kind, (COUNT, 1), 2)))[:, 0]
    records, _, _ = pack(moved(positions, radii, TURNED))
    assert records.tobytes() == hosts(positions, radii).tobytes()


def test_zeros_have_the_sign_of_the_host(pack: Pack) -> None:
    """A coefficient of zero adds nothing: not even 0 to -0."""
    positions = np.array([[-0.0, 5.0, -5.0], [0.0, -0.0, 0.0], [1e-320, -1e-300, 0.0]])
    quarter = Transform(rotate=(0.0, 90.0, 0.0))
    for transform in (Transform(), quarter):
        linear, _ = Space((0.0, 0.0, 0.0), 1.0).affine_from(transform)
        move = np.array([-0.0, 0.0, -0.0])
        records, _, _ = pack(
            SphereUpdate(0, 3, positions, np.ones(1), None, "srgb", 0, linear, move, 1.0)
        )
        columns = np.empty((4, 3), np.float32)
        core().place(
            positions, np.ones(3), linear.ravel().tolist(), move.tolist(), 1.0, (*columns,), 1
        )
        assert records.tobytes() == columns.T.tobytes()


def test_every_half_is_read_exactly(pack: Pack) -> None:
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    positions = np.stack([halves, halves, halves], axis=1)
    is_finite = np.isfinite(halves)
    records, _, info = pack(replace(moved(positions, 1.0), linear=np.eye(3), offset=np.zeros(3)))
    expected = np.where(halves == 0, np.float16(0), halves).astype(np.float32)  # -0 + 0
    assert records[is_finite, 0].tobytes() == expected[is_finite].tobytes()
    assert (records[~is_finite] == 0).all()
    assert info.wrong == {"center": int(np.argmin(is_finite))}


def test_one_radius_of_all(pack: Pack) -> None:
    positions = numbers("float32", (COUNT, 3))
    records, _, _ = pack(moved(positions, 0.1, TURNED))
    assert records.tobytes() == hosts(positions, 0.1).tobytes()


def test_records_of_solids_keep_what_follows(launch: Launch) -> None:
    update = moved(numbers("float32", (50, 3)), np.full(50, 0.5))
    records, info = np.full((50, 8), 7.0, np.float32), np.full(48, 0xFF, np.uint8)
    arguments = make_pack_arguments(update, here(update), 32)
    arguments["records"], arguments["info"] = records.ctypes.data, info.ctypes.data
    launch(BLOCKS, THREADS, arguments)
    assert records[:, :4].tobytes() == hosts(update.positions, 0.5, SETTING["as it is"]).tobytes()
    assert (records[:, 4:] == 7.0).all()


def test_what_is_not_given_stays(pack: Pack) -> None:
    positions, radii = numbers("float32", (COUNT, 3)), np.abs(numbers("float32", (COUNT,), 2))
    first, color, _ = pack(moved(positions, radii, TURNED))
    other, _, _ = pack(moved(positions + 1, None, TURNED), first)
    assert other.tobytes() == hosts(positions + 1, radii).tobytes()
    grown, _, info = pack(moved(None, radii * 2, TURNED), other)
    assert grown.tobytes() == hosts(positions + 1, radii * 2).tobytes()
    assert info.low.tolist() == grown[:, :3].min(axis=0).tolist()
    same, color, info = pack(colored(np.ones((COUNT, 3), np.float32), "linear"), grown)
    assert same.tobytes() == grown.tobytes()
    assert (color == 1).all()
    assert np.isnan(info.low).all()


@pytest.mark.parametrize(
    ("part", "row", "value", "word"),
    [
        ("positions", 700, np.nan, "center"),
        ("positions", 3, np.inf, "center"),
        ("radii", 999, 0.0, "radius"),
        ("radii", 0, -1.0, "radius"),
        ("radii", 20, np.nan, "radius"),
        ("radii", 21, np.inf, "radius"),
        ("positions", 31, 1e30, "reach"),
        ("radii", 32, 1e-30, "reach"),
        ("radii", 64, 1e30, "reach"),
    ],
)
def test_the_first_wrong_sphere_is_named_and_stays(
    pack: Pack, part: str, row: int, value: float, word: str
) -> None:
    positions, radii = numbers("float64", (COUNT, 3)), np.abs(numbers("float64", (COUNT,), 2))
    good, _, _ = pack(moved(positions, radii, Transform()))
    wrong = {"positions": positions.copy(), "radii": radii.copy()}
    for later in (row, min(row + 10, COUNT - 1)):
        wrong[part][later] = value
    records, _, info = pack(moved(**wrong, transform=Transform()), good)
    assert records.tobytes() == good.tobytes()
    assert info.wrong == {word: row}
    with pytest.raises(UserError, match=f"sphere {row} "):
        info.check()


CODES, HALVES = np.arange(256, dtype=np.uint8), np.arange(0x3C01, dtype=np.uint16).view(np.float16)
SHARES = np.random.default_rng(4).random((COUNT, 3))
SHARES[:4] = [[0.0, 0.04045, 1.0], [0.0404, 0.0405, 1e-5], [0.5, 0.25, 0.75], [1.0, 1.0, 0.0]]
COLORS = {
    "every code": np.stack([CODES, CODES[::-1], CODES], axis=1),
    "every half from 0 to 1": np.stack([HALVES, HALVES, HALVES], axis=1),
    **{kind: SHARES.astype(kind) for kind in ("float32", "float64", "float16")},
}


@pytest.mark.parametrize("name", COLORS)
@pytest.mark.parametrize("space", ["srgb", "linear"])
def test_colours_are_those_of_the_host(pack: Pack, name: str, space: str) -> None:
    _, made, info = pack(colored(COLORS[name], space))
    assert made.tobytes() == linear_rgb(COLORS[name], space).tobytes()
    assert info.wrong == {}


@pytest.mark.parametrize(("space", "value"), [("srgb", 1.5), ("srgb", -0.1), ("linear", -1.0),
                                             ("linear", np.inf), ("srgb", np.nan)])  # fmt: skip
def test_a_wrong_colour_stays_as_it_was(pack: Pack, space: str, value: float) -> None:
    colors = np.full((COUNT, 3), 0.5)
    colors[[77, 500], 1] = value
    before = np.full((COUNT, 3), 0.25, np.float32)
    _, made, info = pack(colored(colors, space), color=before)
    assert (made[[77, 500]] == 0.25).all()
    assert (np.delete(made, [77, 500], axis=0) != 0.25).all()
    assert info.wrong == {"color": 77}
    with pytest.raises(UserError, match="colors: sphere 77 has a colour out of range"):
        info.check()
    if space == "linear":
        _, made, _ = pack(colored(np.full((COUNT, 3), 9.0), space))
        assert (made == 9.0).all()  # light may be brighter


SCALES = {
    "linear": ColorScale("viridis", low=-1.0, high=2.0),
    "one value": ColorScale("viridis", low=1.0, high=1.0),
    "from end to end": ColorScale("coolwarm", low=-1.7e308, high=1.7e308),
    "510 colours": ColorScale("twilight", low=0.0, high=1.0),
    "discrete": ColorScale("viridis", "discrete", low=0.0, high=1.0, steps=7),
    "log": ColorScale("magma", "log", low=0.01, high=10.0),
    "symlog": ColorScale("coolwarm", "symlog", low=-5.0, high=10.0),
}


@pytest.mark.parametrize("name", SCALES)
@pytest.mark.parametrize("kind", ["float32", "float64", "int32"])
def test_values_have_the_colours_of_their_scale(pack: Pack, name: str, kind: str) -> None:
    scale = SCALES[name]
    rng = np.random.default_rng(5)
    values: NDArray[Any] = rng.normal(0.5, 1.5, COUNT)
    values[:6] = [np.nan, np.inf, -np.inf, scale.low, scale.high, 0.0]
    if kind == "int32":
        values = rng.integers(-8, 8, COUNT)
    with np.errstate(over="ignore"):
        values = values.astype(kind)
    _, made, info = pack(colored(values, color_map=scale.color_map()))
    expected = scale.rgb(values)
    is_other = (made != expected).any(axis=1)
    if scale.kind in ("log", "symlog"):  # a logarithm may be rounded to the next row of the map
        assert is_other.mean() <= 0.002
    else:
        assert not is_other.any()
    assert info.wrong == {}


@pytest.mark.slow
def test_every_float_is_decoded_as_on_the_host(tmp_path: Path) -> None:
    """Of those that a power is computed for."""
    text = (
        "#include <cuda_on_cpu.h>\n#include <shade/pack_color.h>\n"
        'extern "C" void decode(float* values, std::int64_t count) {\n'
        "  for (std::int64_t i = 0; i < count; ++i)\n"
        "    values[i] = (float)rt::srgb_decode(values[i]);\n}\n"
    )
    decoder = library(tmp_path, "decode", text, *FOR_CUDA)
    first, last = (int(np.float32(end).view(np.uint32)) for end in (0.04, 1.0))
    for begin in range(first, last + 1, 1 << 20):
        bits = np.arange(begin, min(begin + (1 << 20), last + 1), dtype=np.uint32)
        made = bits.view(np.float32).copy()
        decoder.decode(ctypes.c_void_p(made.ctypes.data), ctypes.c_int64(len(made)))
        assert made.tobytes() == srgb_to_linear(bits.view(np.float32)).astype(np.float32).tobytes()


def test_one_colour_of_all(pack: Pack) -> None:
    update = replace(moved(numbers("float32", (COUNT, 3))), colors=np.array([[0.5, 0.25, 1.0]]))
    _, made, _ = pack(update)
    assert (made == linear_rgb(np.array([[0.5, 0.25, 1.0]]))).all()


def test_a_categorical_scale_has_no_map_of_values() -> None:
    categories = ColorScale("tab10", "categorical", names=("a", "b"))
    with pytest.raises(UserError, match="values: a categorical scale has names"):
        categories.color_map()
