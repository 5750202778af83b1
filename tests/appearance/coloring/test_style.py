"""Colour, size and selection by columns: in scene files, options and Python."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer import RaytracerWarning, Scene, UserError, load
from raytracer.appearance.coloring import SETTINGS, by_scale
from raytracer.appearance.coloring.scale import ColorScale
from raytracer.appearance.coloring.style import StyleSettings
from raytracer.commands.cli import main
from raytracer.config.fields import find_definitions
from raytracer.config.warning import collect_warnings
from support.particle_files import dump, write

XYZ = """6
Properties=species:S:1:pos:R:3:velo:R:3:charge:R:1
O 0 0 0  3 4 0  -1
H 1 0 0  0 0 1   0
H 2 0 0  0 0 2   1
C 3 0 0  0 0 3   2
C 4 0 0  0 0 4  10
C 5 0 0  0 0 0 100
"""

DUMP = dump(
    "id type x y z vx vy vz c_pe[1] mass",
    [
        "7 2 0 0 0 3 0 4 0.5 4",
        "3 1 1 0 0 0 0 1 1.5 1",
        "9 2 2 0 0 0 2 0 nan 4",
        "5 1 3 0 0 1 0 0 3.5 1",
    ],
    edge=9,
)


@pytest.fixture
def atoms(tmp_path: Path) -> Path:
    return write(tmp_path / "a.xyz", XYZ)


@pytest.fixture
def lammps(tmp_path: Path) -> Path:
    return write(tmp_path / "a.dump", DUMP)


def colors(scene: Scene, index: int = 0) -> list[str]:
    """The colour of each sphere."""
    spheres = scene.spheres[index]
    assert spheres.color_id is not None
    rows = spheres.color[spheres.color_id]
    levels = rows if rows.dtype == np.uint8 else np.round(255 * rows).astype(np.uint8)
    return [f"#{bytes(row).hex()}" for row in levels]


def scene_file(folder: Path, text: str) -> Scene:
    return load(write(folder / "s.toml", text))


def test_settings_are_those_of_the_definitions() -> None:
    assert list(SETTINGS) == list(find_definitions(StyleSettings))


def test_columns_of_a_dump(lammps: Path) -> None:
    columns = load(lammps).columns
    assert columns["speed"].tolist() == [5, 1, 2, 1]
    assert columns["index"].tolist() == [0, 1, 2, 3]
    assert columns["id"].tolist() == [7, 3, 9, 5]
    assert columns["Mass"].tolist() == [4, 1, 4, 1]
    assert columns["x"].tolist() == [0, 1, 2, 3]
    assert columns["c_pe[1]"].tolist()[:2] == [0.5, 1.5]
    assert columns["element"].tolist() == ["2", "1", "2", "1"]
    assert "speed" in columns
    assert "sped" not in columns
    assert {"radius", "speed", "vx", "id"} <= set(columns)
    with pytest.raises(KeyError):
        columns["sped"]


def test_units_of_columns(tmp_path: Path) -> None:
    columns = load(write(tmp_path / "a.csv", "x,y,z,vel [m/s]\n1,2,3,4\n")).columns
    assert columns.unit("vel") == columns.unit("vel [m/s]") == "m/s"
    scene = load(tmp_path / "a.csv").styled(color_by="vel")
    assert scene.color_scales[0].title == "vel (m/s)"


def test_columns_of_arrays() -> None:
    arrays = {"t": np.arange(3.0), "name": np.array(["a", "b", "a"])}
    scene = Scene.from_arrays(np.eye(3), 1.0, columns=arrays)
    assert scene.columns["t"].tolist() == [0, 1, 2]
    assert colors(scene.styled(color_by="name"))[0] == "#1f77b4"
    assert scene.styled(select="name == 'a'").count == 2
    with pytest.raises(UserError, match=r"columns\['t'\].*shape \(2,\) for 3 spheres"):
        Scene.from_arrays(np.eye(3), 1.0, columns={"t": [1, 2]})


def test_colour_by_column(atoms: Path) -> None:
    scene = load(atoms).styled(color_by="speed", map="viridis")
    (scale,) = scene.color_scales
    assert (scale.low, scale.high, scale.label) == (0.0, 5.0, "speed")
    assert colors(scene)[0] == "#fde725"
    assert colors(scene)[5] == "#440154"
    scale = load(atoms).styled(color_by="charge", range="p20,").color_scales[0]
    assert (scale.low, scale.high) == (0.0, 100.0)


def test_missing_values(lammps: Path) -> None:
    scene = load(lammps).styled(color_by="c_pe[1]", missing_color="red", range=(0, None))
    assert colors(scene)[2] == "#ff0000"
    assert scene.color_scales[0].high == 3.5


def test_scales(atoms: Path) -> None:
    scene = load(atoms)
    with pytest.warns(RaytracerWarning, match="2 particles with 'charge' at or below 0"):
        log = scene.styled(color_by="charge", color_scale="log")
    assert (log.color_scales[0].kind, log.color_scales[0].low) == ("log", 1.0)
    assert colors(log)[0] == colors(log)[1] == "#888888"
    even = scene.styled(color_by="charge", color_scale="symmetric", range=(-5, None))
    assert (even.color_scales[0].low, even.color_scales[0].high) == (-100, 100)
    steps = scene.styled(color_by="z + index", color_steps=3).color_scales[0]
    assert (steps.kind, len(steps.palette)) == ("discrete", 4)
    both = scene.styled(color_by="charge", color_scale="symmetric", color_steps=5).color_scales[0]
    assert (both.kind, both.low, both.steps) == ("discrete", -100, 5)
    assert scene.styled(color_by="charge", color_scale="symlog").color_scales[0].kind == "symlog"


def test_types_and_texts_are_categories(atoms: Path, lammps: Path) -> None:
    scene = load(lammps).styled(color_by="type")
    assert [name for name, _ in scene.color_scales[0].categories()] == ["1", "2"]
    assert colors(scene) == colors(load(lammps))
    elements = load(atoms).styled(color_by="element", map="vesta")
    assert colors(elements)[0] == "#fe0300"
    own = load(atoms).styled(color_by="species", map="O=red,H=white,C=#010203")
    assert colors(own) == ["#ff0000", "#ffffff", "#ffffff", *["#010203"] * 3]
    masses = load(lammps).styled(color_by="mass", map="1=red,4=#0000ff")
    assert colors(masses) == ["#0000ff", "#ff0000"] * 2
    numbers = load(atoms).styled(color_by="charge", color_scale="categorical")
    assert [name for name, _ in numbers.color_scales[0].categories()] == [
        "-1", "0", "1", "2", "10", "100",
    ]  # fmt: skip


def test_palettes(atoms: Path) -> None:
    assert colors(load(atoms).styled(palette="cpk"))[0] == "#f00000"
    assert colors(load(atoms).styled(palette={"O": "blue"}))[:2] == ["#0000ff", "#ffffff"]
    scale = load(atoms).styled(palette="jmol", select="z == 0 and species != 'O'").color_scales[0]
    assert scale.names == ("H", "C")


def test_selection_keeps_the_rows_of_the_file(atoms: Path) -> None:
    scene = load(atoms).styled(select="species == 'C' and charge > 2", color_by="charge")
    assert scene.count == 2
    assert scene.columns["index"].tolist() == [4, 5]
    assert scene.columns["charge"].tolist() == [10, 100]
    assert scene.color_scales[0].low == 10
    assert scene.describe(0).row == 4
    assert scene.describe(0).values["charge"] == 10
    again = scene.styled(select="x > 4")
    assert again.columns["index"].tolist() == [5]
    assert again.columns["speed"].tolist() == [0]


def test_scene_files(atoms: Path, tmp_path: Path) -> None:
    scene = scene_file(tmp_path, """
[[spheres]]
file = "a.xyz"
select = "species != 'O'"
color = { by = "charge", map = ["black", "white"], range = [0, "p50"], label = "q", unit = "e" }
radius = "0.5 * vdw"

[[spheres]]
file = "a.xyz"
select = "species == 'O'"
palette = { O = "#010203" }
radius = "covalent"
""")  # fmt: skip
    first, second = scene.spheres
    assert (first.count, second.count) == (5, 1)
    assert colors(scene) == ["#000000", "#808080", *["#ffffff"] * 3]
    assert colors(scene, 1) == ["#010203"]
    assert first.radius.tolist() == [0.6, 0.6, 0.885, 0.885, 0.885]  # type: ignore[union-attr]
    assert second.radius.tolist() == [0.63]  # type: ignore[union-attr]
    assert [scale.title for scale in scene.color_scales] == ["element", "q (e)"]


def test_radius_by_an_expression(atoms: Path) -> None:
    size: dict[str, Any] = {"width": 24, "height": 24, "samples": 1}
    radii = load(atoms).styled(radius="0.5*vdw").spheres[0].radius
    assert radii.tolist() == [0.75, 0.6, 0.6, 0.885, 0.885, 0.885]  # type: ignore[union-attr]
    assert load(atoms).styled(radius=2).spheres[0].radius == 2
    with pytest.raises(UserError, match="radius: there is no column 'vdv'; did you mean 'vdw'"):
        raytracer.render(str(atoms), radius="vdv", **size)
    with pytest.raises(UserError, match="color: give either color, one colour for all, or"):
        raytracer.render(str(atoms), color="red", color_by="speed", **size)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"color_by": "log(0*charge - 1)"}, "has no finite values"),
        ({"color_by": "species", "color_scale": "log"}, "holds no numbers"),
        ({"color_by": "charge", "range": (200, None)}, "range: 200 is above 100"),
        ({"color_by": "-abs(charge)", "color_scale": "log"}, "no values above 0"),
        ({"select": "z > 7"}, "no particle .* fulfils 'z > 7': z is 0 to 0"),
    ],
)
def test_wrong_settings(atoms: Path, settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        load(atoms).styled(**settings)


TABLE = "x,y,z,share\n0,0,0,0\n1,0,0,0.25\n2,0,0,0.5\n3,0,0,1\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write(tmp_path / "a.csv", TABLE)


def opacity(scene: raytracer.Scene) -> list[float]:
    found: Any = scene.spheres[0].opacity
    return np.asarray(found).tolist()  # type: ignore[no-any-return]


def test_opacity_follows_an_expression(table: Path) -> None:
    scene = raytracer.load(table)
    assert opacity(scene.styled(opacity="share / 2")) == [0.0, 0.125, 0.25, 0.5]
    assert opacity(scene.styled(opacity="share", select="x > 1")) == [0.5, 1.0]


def test_file_argument_and_option_say_the_same(table: Path, tmp_path: Path) -> None:
    text = (
        '[[spheres]]\nfile = "a.csv"\nselect = "x < 2"\nrest = 0.5\nopacity = "0.5 + share / 2"\n'
    )
    scene = raytracer.load(
        write(
            tmp_path / "a.toml",
            text + '[render]\nlook = "soft"\nao_samples = 4\nbrightness = "auto"\n'
            "[camera]\nelevation = 35\nvertical_fov = 30\n",
        )
    )
    assert opacity(scene) == [0.5, 0.625, 0.375, 0.5]
    small: Any = {"width": 48, "height": 32, "samples": 2}
    said: dict[str, Any] = {"select": "x < 2", "rest": 0.5, "opacity": "0.5 + share / 2"}
    said["background"] = "white"
    image = raytracer.render(table, **small, **said)
    assert np.array_equal(raytracer.render(scene, **small).array, image.array)
    options = [f"--{name}={value}" for name, value in said.items()]
    film, picture = tmp_path / "a.npz", tmp_path / "a.png"
    words = ["render", str(table), *options, "--size", "48x32", "--samples", "2", "-q"]
    assert main([*words, "-o", str(picture), "--film", str(film)]) == 0
    assert np.array_equal(raytracer.Film.load(film).sums, image.film.sums)


def test_many_categories_have_distinct_colors() -> None:
    """The first ten those of tab10; a map with fewer colours is used with a warning."""
    names = [f"T{number:02d}" for number in range(24)]
    scene = raytracer.Scene.from_arrays(np.eye(3)[[0] * 24], 0.1, columns={"q": names})
    with collect_warnings() as said:
        (scale,) = scene.styled(color_by="q").color_scales
    assert said == []
    colors = np.array([color for _, color in scale.categories()])
    tab10 = ColorScale("tab10", "categorical", names=tuple(names[:10]))
    np.testing.assert_array_equal(colors[:10], [color for _, color in tab10.categories()])
    apart = np.abs(colors[:, None] - colors).max(axis=-1) + np.eye(24)
    assert apart.min() > 0.1
    for given in ("tab10", ["red", "blue"]):
        with collect_warnings() as said:
            scene.styled(color_by="q", map=given)
        count = 10 if given == "tab10" else 2
        assert said == [
            f"map: 24 categories of 'q' share {count} colours: leave the map out for distinct "
            "ones, or name a map with more"
        ]


def test_a_palette_leaves_colors_that_the_scene_states(tmp_path: Path) -> None:
    """A label that only means an element has that of the palette."""
    write(tmp_path / "a.xyz", "2\n\nA 0 0 0\nB 1 0 0\n")
    scene = write(
        tmp_path / "a.toml",
        '[[spheres]]\nfile = "a.xyz"\n[elements.A]\nelement = "O"\n'
        '[elements.B]\nelement = "H"\ncolor = "#00ff00"\n',
    )
    assert colors(load(scene).styled(palette="cpk")) == ["#f00000", "#00ff00"]


def test_the_element_of_a_label_is_that_of_the_set_that_has_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The second of two files states that "7" is iron; no element is called so."""
    monkeypatch.setattr(by_scale, "find_element_symbols", lambda labels: labels.symbols)
    oxygen = SimpleNamespace(labels=SimpleNamespace(names=["O"], symbols=["O"]))
    iron = SimpleNamespace(labels=SimpleNamespace(names=["6", "7"], symbols=["N", "Fe"]))
    sets: Any = [oxygen, SimpleNamespace(labels=None), iron]
    assert by_scale._symbol(sets, "7") == "Fe"
    assert by_scale._symbol(sets, "O") == "O"
    assert by_scale._symbol(sets, "8") is None
    assert by_scale._symbol(sets, "Cu") == "Cu"
