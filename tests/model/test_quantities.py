"""Units, masks and missing values of arrays of other packages: converted, or refused by name."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer import CapsuleSet, ConeSet, EllipsoidSet, Mesh, Scene, SphereSet
from raytracer.config.errors import UserError
from raytracer.model.arrays import ErrorContext, as_array

CENTERS = np.array([[0.0, 0.0, 0.0], [3.0, 0.0, 0.0], [0.0, 2.0, 1.0]])
RADII = np.array([0.5, 0.75, 0.25])
PLAIN: dict[str, Any] = {
    "width": 96, "height": 72, "samples": 1, "filter": "point", "look": "flat", "shading": "flat"
}  # fmt: skip


class Length:
    """A unit of a stand-in for unyt, whose arrays have `units` as attributes of their own."""

    def __init__(self, metres: float) -> None:
        self.metres = metres

    def __rmul__(self, number: float) -> "Lengths":
        return Lengths.of(np.array(number), self)


class Lengths(np.ndarray[Any, Any]):
    units: Length

    @classmethod
    def of(cls, values: Any, unit: Length) -> "Lengths":
        array = np.asarray(values).view(cls)
        array.units = unit
        return array

    def to_value(self, unit: Length) -> Any:
        return np.asarray(self) * (self.units.metres / unit.metres)


def astropy(values: Any, unit: str) -> Any:
    return np.asarray(values) * pytest.importorskip("astropy.units").Unit(unit)


def pint(values: Any, unit: str) -> Any:
    return pytest.importorskip("pint").get_application_registry().Quantity(values, unit)


UNITS = {"km": Length(1000.0), "m": Length(1.0)}


def unyt(values: Any, unit: str) -> Any:
    return Lengths.of(values, UNITS[unit])


def items(values: Any, unit: str) -> Any:
    """Return a list of quantities."""
    return [astropy(value, unit) for value in values]


PACKAGES = pytest.mark.parametrize("make", [astropy, pint, unyt, items])


@PACKAGES
def test_radii_are_converted_to_the_unit_of_the_centers(make: Callable[..., Any]) -> None:
    spheres = SphereSet(make(CENTERS, "km"), make(1000 * RADII, "m"))
    assert np.array_equal(spheres.centers, CENTERS)
    assert np.allclose(spheres.radius, RADII, rtol=1e-15)
    # a plain radius is one in the unit of the centres
    assert np.array_equal(SphereSet(make(CENTERS, "km"), RADII).radius, RADII)


@pytest.mark.parametrize("make", [astropy, pint, unyt])
def test_lengths_of_dictionaries_have_the_unit_of_the_first_coordinate(
    make: Callable[..., Any],
) -> None:
    x, y, z = CENTERS.T
    table = {"x": make(x, "km"), "y": make(1000 * y, "m"), "z": make(z, "km")}
    for name, factor in (("radius", 1000), ("diameter", 2000)):
        scene = Scene.from_object(table | {name: make(factor * RADII, "m")})
        assert np.allclose(scene.spheres[0].centers, CENTERS, rtol=1e-15)
        assert np.allclose(scene.spheres[0].radius, RADII, rtol=1e-15)
    with pytest.raises(UserError, match=r"'radius' has the unit .*: give numbers without a unit"):
        Scene.from_object({"x": x, "y": y, "z": z, "radius": make(RADII, "m")})


def test_columns_of_tables_of_astropy_in_several_units() -> None:
    astropy_table = pytest.importorskip("astropy.table")
    x, y, z = CENTERS.T
    columns = {"x": astropy(x, "kpc"), "y": astropy(1000 * y, "pc"), "z": astropy(z, "kpc")}
    columns["radius"] = astropy(1000 * RADII, "pc")
    for kind in (astropy_table.QTable, astropy_table.Table):
        spheres = Scene.from_object(kind(columns)).spheres[0]
        assert np.allclose(spheres.centers, CENTERS, rtol=1e-15)
        assert np.allclose(spheres.radius, RADII, rtol=1e-15)
    with pytest.raises(UserError, match="'radius' has the unit s: give values in kpc"):
        Scene.from_object(astropy_table.QTable(columns | {"radius": astropy(RADII, "s")}))


def test_solids_have_the_unit_of_their_first_array() -> None:
    starts, ends = astropy(CENTERS, "km"), astropy(1000 * (CENTERS + 1), "m")
    radius = astropy(500.0, "m")
    capsules = CapsuleSet(starts, ends, radius)
    assert np.allclose(capsules.ends, CENTERS + 1)
    assert capsules.radius == 0.5
    cones = ConeSet(starts, ends, radius, astropy(250.0, "m"))
    assert (cones.radius, cones.end_radius) == (0.5, 0.25)
    axes = astropy(np.full((3, 3), 500.0), "m")
    assert np.allclose(EllipsoidSet(starts, axes).semi_axes, 0.5)
    assert np.array_equal(Mesh(starts, np.array([[0, 1, 2]])).vertices, CENTERS)
    with pytest.raises(UserError, match="ends: has the unit m: give numbers without a unit"):
        CapsuleSet(CENTERS, ends, 0.5)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"radius": ("m",)}, "radius: has the unit m: give numbers without a unit, or centers"),
        ({"color": ("km",)}, "color: has the unit km: give numbers without a unit"),
        ({"opacity": ("s",)}, "opacity: has the unit s: give numbers without a unit"),
        ({"velocity": ("km / s",)}, "velocity: has the unit km / s: give numbers without"),
    ],
)
def test_a_unit_that_cannot_be_used_is_refused(arguments: dict[str, Any], said: str) -> None:
    shapes = {"color": (3, 3), "velocity": (3, 3)}
    given = {n: astropy(np.ones(shapes.get(n, 3)), *unit) for n, unit in arguments.items()}
    with pytest.raises(UserError) as told:
        SphereSet(CENTERS, **({"radius": 1.0} | given))
    assert str(told.value).startswith(said)


def test_percent_are_numbers() -> None:
    spheres = SphereSet(CENTERS, 1.0, opacity=astropy([50, 25, 100], "percent"))
    assert spheres.opacity is not None
    assert np.allclose(spheres.opacity, [0.5, 0.25, 1.0])


def test_a_setting_drops_no_unit() -> None:
    radii: list[Any] = [astropy(1.0, "pc"), unyt(1.0, "km"), np.ma.masked]
    for radius in radii:
        with pytest.raises(UserError, match="radius: must be a number or an expression"):
            raytracer.render(CENTERS, radius=radius, **PLAIN)


def test_units_of_columns_are_in_the_legend() -> None:
    velocity = astropy(np.arange(3.0), "km / s")
    scene = Scene.from_arrays(CENTERS, 1.0, columns={"v": velocity, "w": RADII})
    assert [scene.columns.unit(name) for name in "vw"] == ["km / s", ""]
    assert scene.styled(color_by="v").color_scales[0].title == "v (km / s)"


@PACKAGES
def test_a_live_scene_keeps_its_unit(make: Callable[..., Any]) -> None:
    scene = Scene.from_arrays(make(CENTERS, "km"), make(1000 * RADII, "m"))
    with raytracer.LiveScene(scene, samples=1, width=16, height=12) as live:
        live.update(make(2000 * CENTERS, "m"), make(2000 * RADII, "m"))
        assert np.allclose(live.scene.spheres[0].centers, 2 * CENTERS)
        assert np.allclose(live.scene.spheres[0].radius, 2 * RADII)
    with (
        raytracer.LiveScene(CENTERS, samples=1, width=16, height=12) as live,
        pytest.raises(UserError, match="positions: has the unit"),
    ):
        live.update(make(CENTERS, "km"))


def test_values_of_a_live_scene_keep_the_unit_of_the_first() -> None:
    with raytracer.LiveScene(CENTERS, samples=1, width=16, height=12) as live:
        live.update(values=astropy([0.0, 1.0, 2.0], "km"))
        first = live.scene.spheres[0].color
        live.update(values=astropy([0.0, 1000.0, 2000.0], "m"))
        assert np.array_equal(live.scene.spheres[0].color, first)
        with pytest.raises(UserError, match="values: has the unit K: give values in km"):
            live.update(values=astropy([1.0, 2.0, 3.0], "K"))


MASK = np.array([False, True, False])


def masked(values: Any) -> Any:
    rows = np.broadcast_to(MASK.reshape(-1, *[1] * (np.ndim(values) - 1)), np.shape(values))
    array = np.ma.array(values, mask=rows, copy=True)
    array.data[1] = 9  # as the fill value of a file
    return array


def astropy_masked(values: Any) -> Any:
    return pytest.importorskip("astropy.utils.masked").Masked(values, mask=MASK)


def column_of_astropy(values: Any) -> Any:
    return pytest.importorskip("astropy.table").MaskedColumn(values, mask=MASK, unit="K")


def of_pandas(kind: str) -> Callable[[Any], Any]:
    def make(values: Any) -> Any:
        pandas = pytest.importorskip("pandas")
        dtype = {"f": "Float64", "i": "Int64", "b": "boolean"}[values.dtype.kind]
        if kind == "pyarrow":
            pytest.importorskip("pyarrow")
            dtype = {"Float64": "double", "Int64": "int64", "boolean": "bool"}[dtype] + "[pyarrow]"
        return pandas.Series(values).astype(dtype if kind else object).where(~MASK)

    return make


def listed(values: Any) -> Any:
    return [None if lost else v for v, lost in zip(values.tolist(), MASK, strict=True)]


def of_polars(values: Any) -> Any:
    return pytest.importorskip("polars").Series(listed(values))


def of_pyarrow(values: Any) -> Any:
    return pytest.importorskip("pyarrow").array(listed(values))


class Lazy:
    """An array of a stand-in for dask: what it computes has the mask."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def compute(self) -> Any:
        return self.values

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.values)


@pytest.mark.parametrize("values", [np.array([1.5, 2.5, 4.0]), np.arange(3), np.arange(3) > 1])
@pytest.mark.parametrize(
    "make",
    [masked, astropy_masked, column_of_astropy, of_pandas("nullable"), of_pandas("pyarrow"),
     of_pandas(""), of_polars, of_pyarrow, listed, lambda v: Lazy(masked(v)),
     lambda v: list(masked(v))],
)  # fmt: skip
def test_a_masked_value_is_a_missing_one(make: Callable[[Any], Any], values: Any) -> None:
    right = values.astype(np.float64)
    right[1] = np.nan
    given = make(values)
    scene = Scene.from_arrays(CENTERS, 1.0, columns={"q": given})
    assert np.array_equal(scene.columns["q"], right, equal_nan=True)
    x, y, z = CENTERS.T
    scene = Scene.from_object({"x": x, "y": y, "z": z, "q": given})
    assert np.array_equal(scene.columns["q"], right, equal_nan=True)


def test_missing_values_of_tables() -> None:
    right = np.array([2.0, np.nan, 7.0])
    table = {"x": CENTERS[:, 0], "y": CENTERS[:, 1], "z": CENTERS[:, 2]}
    ones = np.array([2, 0, 7])
    made = [pytest.importorskip("astropy.table").Table(table | {"q": masked(ones)})]
    made.append(made[0].as_array())  # masked records
    pandas = pytest.importorskip("pandas")
    made.append(pandas.DataFrame(table | {"q": of_pandas("nullable")(ones)}).convert_dtypes())
    made.append(pytest.importorskip("pyarrow").table(table | {"q": of_pyarrow(ones)}))
    for each in made:
        scene = Scene.from_object(each)
        assert np.array_equal(scene.spheres[0].centers, CENTERS)
        assert np.array_equal(scene.columns["q"], right, equal_nan=True)


def test_masked_texts_are_empty_and_other_masks_change_nothing() -> None:
    words = np.ma.array(["a", "b", "c"], mask=MASK)
    scene = Scene.from_arrays(CENTERS, 1.0, columns={"w": words})
    assert scene.columns["w"].tolist() == ["a", "", "c"]
    array = np.ma.array(CENTERS)
    assert np.shares_memory(SphereSet(array, 1.0).centers, CENTERS)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"centers": masked(CENTERS)}, "centers: sphere 1 lies at (nan, nan, nan)"),
        ({"radius": masked(RADII)}, "radius: sphere 1 has radius nan"),
        ({"color": masked(np.ones((3, 3)))}, "color: colour 1 is not finite"),
        ({"color": masked(np.ones((3, 3), np.uint8))}, "color: colour 1 is not finite"),
        ({"opacity": masked(RADII)}, "opacity: of sphere 1 is nan"),
        (
            {"color": np.eye(3), "color_id": masked(np.arange(3))},
            "color_id: that of sphere 1 is missing",
        ),
    ],
)
def test_what_makes_a_sphere_cannot_be_masked(arguments: dict[str, Any], said: str) -> None:
    given: dict[str, Any] = {"centers": CENTERS, "radius": 1.0} | arguments
    with pytest.raises(UserError) as told:
        SphereSet(**given)
    assert str(told.value).startswith(said)


def test_nullable_frames_are_centers() -> None:
    frame = pytest.importorskip("pandas").DataFrame(CENTERS, columns=list("xyz")).convert_dtypes()
    assert np.array_equal(SphereSet(frame, 1.0).centers, CENTERS)
    with pytest.raises(UserError, match="centers: is a table with the columns z, y, x: give"):
        SphereSet(frame[["z", "y", "x"]], 1.0)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (np.array([[1, "a", 2]], object), "centers: holds values of type str, not real numbers"),
        (np.array([[None] * 3], object), "centers: holds None, not real numbers"),
        ([[1 + 2j, 0, 0]], "centers: holds complex128, not real numbers"),
        (np.array([["1", "2", "3"]]), "centers: holds text, not real numbers"),
    ],
)
def test_what_is_no_number_is_named(values: Any, said: str) -> None:
    with pytest.raises(UserError) as told:
        SphereSet(values, 1.0)
    assert str(told.value) == said


def test_whole_numbers_that_missing_ones_round() -> None:
    with pytest.warns(UserWarning, match="q: some are missing, so whole numbers beyond 2\\^53 are"):
        as_array(np.ma.array([2**60 + 1, 1, 2], mask=MASK), "q", ErrorContext())


def test_whole_numbers_beyond_64_bits() -> None:
    with pytest.warns(UserWarning, match="q: whole numbers beyond 64 bits are rounded to double"):
        values = as_array([2**70, 1, 2], "q", ErrorContext())
    np.testing.assert_array_equal(values, [2.0**70, 1.0, 2.0])


class Frame:
    """A table of an unknown package, which NumPy reads as an array of its columns."""

    def __init__(self, table: Any) -> None:
        self.table = table
        self.columns = list(table.columns)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.table.to_numpy()


class Convertible(Frame):
    def compute(self) -> Any:
        return self.table


def test_a_table_of_an_unknown_package_is_no_array() -> None:
    pandas = pytest.importorskip("pandas")
    x, y, z = CENTERS.T
    table = pandas.DataFrame({"id": [1.0, 2.0, 3.0], "x": x, "y": y, "z": z})
    assert np.array_equal(Scene.from_object(Convertible(table)).spheres[0].centers, CENTERS)
    with pytest.raises(UserError, match=r"Frame is a table of a package that is not known: con"):
        Scene.from_object(Frame(table))


def test_whole_numbers_beyond_doubles_have_colors_of_their_own() -> None:
    centers = np.random.default_rng(0).normal(size=(100, 3))
    count = np.arange(100)

    def colors(values: Any, by: str) -> int:
        scene = Scene.from_arrays(centers, 0.2, columns={"q": values})
        image = raytracer.render(scene, color_by=by, **PLAIN)
        return len(np.unique(image.to_uint8().reshape(-1, 3), axis=0))

    right = colors(count, "q")
    for large in (count + 2**60, -count - 2**60, count.astype(np.uint64) + np.uint64(2**63)):
        with pytest.raises(UserError, match=r"beyond 2\^53 .*: colour by 'q - min\(q\)'"):
            colors(large, "q")
        assert colors(large, "q - min(q)") == colors(large, "max(q) - q") == right
        names = Scene.from_arrays(centers, 0.2, columns={"q": large}).styled(
            color_by="q", color_scale="categorical"
        ).color_scales[0].names  # fmt: skip
        assert set(names) == {str(value) for value in large.tolist()}
    assert colors(count * 2**50, "q") == right  # spread enough
    assert colors(np.full(100, 2**60), "q") == colors(np.ones(100), "q")


def change(array: Any, place: Any, value: float) -> Callable[[], None]:
    return lambda: array.__setitem__(place, value)


def changed_scenes() -> dict[str, tuple[Scene, Callable[[], None], str]]:
    """Return scenes by what is then changed in place, how, and what is said."""
    a, b, c, d = (CENTERS.copy() for _ in range(4))
    radii, colors, ids = RADII.copy(), np.full((3, 3), 0.5), np.zeros(3, np.int32)
    opacity, triangles = np.full(3, 0.5, np.float32), np.array([[0, 1, 2]], np.int32)
    axes, sizes = np.ones((3, 3)), RADII.copy()
    from_arrays = Scene.from_arrays
    return {
        "centers": (from_arrays(a, 1.0), change(a, (1, 0), np.nan),
                    "centers: sphere 1 lies at (nan, 0, 0); coordinates must be finite"),
        "radius": (from_arrays(CENTERS, radii), change(radii, 2, -1.0),
                   "radius: sphere 2 has radius -1; it must be finite and positive"),
        "size": (from_arrays(b, RADII), lambda: b.resize((2, 3), refcheck=False),
                 "radius: has 3 radii for 2 spheres"),
        "color": (from_arrays(CENTERS, 1.0, colors), change(colors, (1, 1), np.nan),
                  "color: colour 1 is not finite"),
        "color_id": (from_arrays(CENTERS, 1.0, np.eye(3), color_id=ids), change(ids, 1, 9),
                     "color_id: has an index outside the palette of 3 colours"),
        "opacity": (Scene(spheres=[SphereSet(CENTERS, 1.0, opacity=opacity)]),
                    change(opacity, 1, np.nan), "opacity: of sphere 1 is nan; it must be from"),
        "ends": (Scene(capsules=[CapsuleSet(c, c + 1, 0.1)]), change(c, (2, 2), np.inf),
                 "starts: capsule 2 lies at (0, 2, inf); coordinates must be finite"),
        "cones": (Scene(cones=[ConeSet(d, d + 1, sizes)]), change(sizes, 1, np.nan),
                  "radius: cone 1 has radius nan"),
        "axes": (Scene(ellipsoids=[EllipsoidSet(CENTERS, axes)]), change(axes, (1, 0), -1.0),
                 "semi_axes: ellipsoid 1 has radius -1"),
        "mesh": (Scene(meshes=[Mesh(CENTERS, triangles)]), change(triangles, (0, 1), 10**6),
                 "triangles: triangle 0 has the corner 1000000"),
    }  # fmt: skip


@pytest.mark.parametrize("what", changed_scenes())
def test_arrays_that_are_changed_in_place_are_checked_again(what: str) -> None:
    scene, spoil, said = changed_scenes()[what]
    raytracer.render(scene, width=8, height=6, samples=1)
    spoil()
    with pytest.raises(UserError) as told:
        raytracer.render(scene, width=8, height=6, samples=1)
    assert str(told.value).startswith(said)
