"""What is drawn over a picture: places and colours of legend, scale bar, axes, texts, labels."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import raytracer
from raytracer import Annotations, Axes, Camera, Labels, Legend, ScaleBar, Scene, SphereSet
from raytracer.annotations.legend import find_scales
from raytracer.annotations.plan import make_plan
from raytracer.annotations.sheet import Sheet
from raytracer.annotations.texts import fill_in
from raytracer.appearance.coloring.scale import ColorScale
from raytracer.appearance.columns import find_length_unit
from raytracer.commands.cli import main
from raytracer.config.errors import SceneError
from raytracer.config.warning import collect_warnings
from raytracer.drawing import fonts
from raytracer.drawing.fonts import FONT, find_missing_letters, font, measure_width
from raytracer.drawing.shapes import Text
from raytracer.rendering.pipeline import prepare

Pixels = NDArray[Any]

SPEED = ColorScale("viridis", "linear", 0.0, 10.0, "speed", "m/s")
SMALL: dict[str, Any] = {"samples": 1, "filter": "point", "threads": 1, "backend": "cpu"}


def scene(**options: Any) -> Scene:
    """One small sphere far from all corners, seen along -z without perspective, 10 units high."""
    spheres = SphereSet([[0.0, 0.0, 0.0]], 0.5, "gray")
    camera = Camera(position=(0, 0, 10), look_at=(0, 0, 0), type="orthographic", height=10.0)
    return Scene([spheres], camera, **options)


def picture(annotations: Annotations | None, **options: Any) -> raytracer.Image:
    """The picture of that sphere, 320x200."""
    made = scene(color_scales=options.pop("scales", ()), **options.pop("scene", {}))
    settings = {"width": 320, "height": 200, **SMALL, **options}
    return raytracer.render(made, annotations=annotations, **settings)


def runs(mask: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Start and end, half open, of what is true in a row."""
    steps = np.flatnonzero(np.diff(mask.astype(int), prepend=0, append=0))
    return [(int(a), int(b)) for a, b in steps.reshape(-1, 2)]


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("place", ["right", "bottom"])
def test_the_bar_has_the_colours_of_the_map(place: str, bits: int) -> None:
    image = picture(Annotations(legend=Legend(place=place)), scales=[SPEED])
    pixels = image.pixels(bits)[..., :3]
    factor = 257 if bits == 16 else 1
    if place == "bottom":
        pixels = pixels.transpose(1, 0, 2)[::-1]
    length = round(0.5 * (320 if place == "bottom" else 200))
    wanted = SPEED.srgb_table(length)[::-1].astype(int) * factor
    first = (pixels == wanted[0]).all(axis=-1) & (np.roll(pixels, -1, 0) == wanted[1]).all(axis=-1)
    rows, columns = np.nonzero(first)
    assert len(set(rows)) == 1
    assert len(columns) == round(1.2 * 10 * (200 / 240))  # a small picture: see `pixels_per_point`
    for x in columns:
        np.testing.assert_array_equal(pixels[rows[0] : rows[0] + length, x], wanted)


def test_ticks_are_where_their_values_are() -> None:
    image = picture(
        Annotations(legend=Legend(size=20.0, label="")), scales=[SPEED], height=600, width=800
    )
    pixels = image.to_uint8().astype(int)
    rows, columns = np.nonzero((pixels == SPEED.srgb_table(300)[-1]).all(axis=-1))
    top, right = rows.min(), columns.max() + 1
    line = round(0.06 * 20 * 600 / 6 / 72)  # of the frame and of ticks
    beside = pixels[:, right + line + 1].sum(axis=-1)
    drawn = [(a + b) / 2 for a, b in runs(beside < 3 * 128)]
    wanted = [top + 300 * (1 - tick.position) for tick in reversed(SPEED.ticks())]
    np.testing.assert_allclose(drawn, wanted, atol=0.5)


@pytest.mark.parametrize("kind", ["log", "symlog", "discrete", "categorical"])
def test_every_kind_of_scale_has_a_legend(kind: str) -> None:
    low = 1.0 if kind == "log" else -100.0
    scale = ColorScale("viridis", kind, low, 1e5, "q", names=("A", "B", "C"))
    found = colors_in(picture(Annotations(legend=Legend()), scales=[scale]))
    colors = scale.palette[:-1] if scale.is_categorical else scale.srgb_table(100)
    assert {tuple(color) for color in colors.tolist()} <= found


@pytest.mark.parametrize(("length", "factor"), [(3.0, 1.0), (0.25, 0.1), (None, 1.0)])
def test_a_scale_bar_is_as_long_as_it_says(length: float | None, factor: float) -> None:
    bar = ScaleBar(length, unit="nm", factor=factor, color="red")
    pixels = picture(Annotations(scale_bar=bar)).to_uint8()
    red = (pixels == (255, 0, 0)).all(axis=-1)
    longest = max(end - start for row in red for start, end in runs(row))
    # 200 pixels for 10 units; a fifth of 320 pixels is 3.2 units, and 2 is the round number below.
    assert abs(longest - 20.0 * (2.0 if length is None else length / factor)) <= 1.0


def test_in_perspective_a_scale_bar_holds_at_the_target() -> None:
    camera = Camera(position=(0, 0, 8), look_at=(0, 0, 0), vertical_fov=60.0)
    with pytest.warns(raytracer.RaytracerWarning, match="with perspective"):
        pixels = raytracer.render(
            Scene([SphereSet([[0.0, 0.0, 0.0]], 0.5)], camera),
            annotations=Annotations(scale_bar=ScaleBar(1.0, color="red")),
            width=320, height=200, **SMALL,
        ).to_uint8()  # fmt: skip
    red = (pixels == (255, 0, 0)).all(axis=-1)
    longest = max(end - start for row in red for start, end in runs(row))
    assert abs(longest - 200 / (2 * 8 * np.tan(np.radians(30)))) <= 1.0


def reddest(pixels: Pixels, channel: int) -> NDArray[np.float64]:
    """The mean place (x, y) of pixels with nothing but one colour."""
    others = np.delete(pixels.astype(int), channel, axis=-1).max(axis=-1)
    rows, columns = np.nonzero(pixels[..., channel].astype(int) - others > 60)
    return np.array([columns.mean(), rows.mean()])


@pytest.mark.parametrize(
    ("view", "directions"),
    [
        ((0, 0, 10), [(1, 0), (0, -1), None]),  # x to the right, y up, z at the viewer
        ((10, 0, 0), [None, (0, -1), (-1, 0)]),
        ((0, 0, -10), [(-1, 0), (0, -1), None]),
    ],
)
def test_axes_follow_the_camera(
    view: tuple[int, int, int], directions: list[tuple[int, int] | None]
) -> None:
    made = scene()
    made.camera = Camera(position=view, look_at=(0, 0, 0), type="orthographic", height=10.0)
    axes = Annotations(axes=Axes(labels=""))
    pixels = raytracer.render(made, annotations=axes, width=320, height=200, **SMALL).to_uint8()
    known = {index: np.array(each, float) for index, each in enumerate(directions) if each}
    places = {index: reddest(pixels, index) for index in known}
    half = 10 / 2  # of an axis, roughly, in pixels
    origin = np.mean([places[index] - half * each for index, each in known.items()], axis=0)
    assert (origin < (60, 200)).all()
    for index, each in known.items():
        away = places[index] - origin
        assert float(away @ each) > 0.8 * np.linalg.norm(away)


def axis_names(camera: Camera, **options: Any) -> dict[str, Text]:
    """The names of axes that are arrows in the scene, in a picture of 200x200 pixels."""
    made = scene()
    made.camera = camera
    annotations = Annotations(axes=Axes(place="origin", extent=2.0, **options))
    size = {"width": 200, "height": 200}
    with prepare(made, size, backend="cpu", annotations=annotations) as job:
        plan = make_plan(made, job.settings, annotations)
        over = plan.overlay(job.scene, job.view, job.space, (0, 0, 200, 200))
    return {shape.text: shape for shape in over.shapes if isinstance(shape, Text)}


def test_axes_in_the_scene_have_names_beyond_their_tips() -> None:
    """10 units are 200 pixels: the tips of 2 units are 40 pixels from the middle."""
    camera = Camera(position=(0, 0, 10), look_at=(0, 0, 0), type="orthographic", height=10.0)
    names = axis_names(camera)
    assert set(names) == {"x", "y", "z"}
    x, y, z = (names[name] for name in "xyz")
    assert 140.0 < x.x < 155.0  # beyond the tip, to the right
    assert abs(y.x - 100.0) < 0.5
    assert 45.0 < y.y - (x.y - 100.0) < 60.0  # above
    assert 100.0 < z.x < 115.0  # towards the viewer: to the lower right of the origin
    assert z.y > x.y
    assert x.color[0] > max(x.color[1:])
    assert y.color[1] > max(y.color[0], y.color[2])
    assert z.color[2] > max(z.color[:2])
    assert set(axis_names(camera, labels="a b c")) == {"a", "b", "c"}
    assert axis_names(camera, labels="") == {}


def test_an_axis_that_reaches_behind_the_eye_has_no_name() -> None:
    """The tip of z, 2 units from the origin, is behind an eye at 1.5."""
    eye = Camera(position=(0, 0, 1.5), look_at=(0, 0, 0), type="perspective", vertical_fov=140.0)
    assert set(axis_names(eye)) == {"x", "y"}
    ahead = Camera(position=(0, 0, 5), look_at=(0, 0, 0), type="perspective", vertical_fov=60.0)
    assert set(axis_names(ahead)) == {"x", "y", "z"}


@pytest.mark.parametrize(("opacity", "expected"), [(0.3, {"1"}), (0.5, {"0"}), (1.0, {"0"})])
def test_labels_are_on_spheres_that_are_at_least_half_opaque(
    opacity: float, expected: set[str]
) -> None:
    """Fainter ones have none, and hide none behind them."""
    camera = Camera(position=(0, 0, 10), look_at=(0, 0, 0), type="orthographic", height=10.0)
    spheres = SphereSet([[0, 0, 0], [0, 0, -4]], 1.0, "white", opacity=[opacity, 1.0])
    made = Scene([spheres], camera)
    with prepare(made, {"width": 200, "height": 100}, backend="cpu") as job:
        plan = make_plan(made, job.settings, Annotations(labels=Labels()))
        over = plan.overlay(job.scene, job.view, job.space, (0, 0, 200, 100))
    assert {shape.text for shape in over.shapes if isinstance(shape, Text)} == expected


ALL = Annotations(
    legend=Legend(),
    scale_bar=ScaleBar(),
    axes=Axes(),
    texts=[raytracer.TextLabel("Σ of {spheres} spheres\nx² − 10⁻³")],
    labels=Labels(),
    box=raytracer.SimulationBox(edges=((3, 0, 0), (1, 3, 0), (0, 1, 3))),
    outline=raytracer.Outline(),
    depth_cue=raytracer.DepthCue(),
)


def test_a_crop_is_a_part_of_the_whole_picture() -> None:
    whole = picture(ALL, scales=[SPEED]).pixels()
    part = picture(ALL, scales=[SPEED], crop=(100, 60, 317, 199)).pixels()
    np.testing.assert_array_equal(part, whole[60:199, 100:317])


def test_over_a_transparent_background_it_is_composited() -> None:
    clear = {"scene": {"background": raytracer.Background(transparent=True)}}
    title = Annotations(texts=[raytracer.TextLabel("Title")])
    drawn, plain = picture(title, **clear).pixels(), picture(None, **clear).pixels()
    letters = drawn[..., 3] > plain[..., 3]
    assert (drawn[letters][:, :3] == 0).all()  # black, and never mixed with the missing background
    assert ((drawn[letters][:, 3] > 0) & (drawn[letters][:, 3] < 255)).any()
    np.testing.assert_array_equal(drawn[~letters], plain[~letters])


def test_text_has_the_same_share_of_any_picture_and_its_own_size_at_a_dpi() -> None:
    title = Annotations(texts=[raytracer.TextLabel("HHHH", size=72.0, color="red")])

    def height(**options: Any) -> int:
        pixels = picture(title, **options).to_uint8()
        return int((pixels == (255, 0, 0)).all(axis=-1).any(axis=1).sum())

    small, large = height(width=960, height=600), height(width=1920, height=1200)
    assert abs(large - 2 * small) <= 2
    assert abs(height() - 0.66 * 72 * 200 / 240) <= 1.5  # larger where it could not be read
    assert abs(height(width=640, height=400) - 0.66 * 72) <= 1.5
    assert abs(height(dpi=50.0) - 0.66 * 50) <= 1.5  # an inch high, and capitals two thirds of it


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{spheres.real}", "there is no value '{spheres.real}'"),
        ("{speed}", "there is no value '{speed}'"),
        ("{title", "cannot be filled in"),
        ("{spheres[0]}", "there is no value '{spheres"),
        ("{}", "there is no value '{}'"),
        ("{frame:{x}}", "cannot be filled in"),
        ("{spheres:{title.__format__.__globals__}}", "cannot be filled in"),
        ("{title!r}", "cannot be filled in"),
        ("{frame:65}", "at most 64"),
        ("{frame:1000000000}", "at most 64"),
        ("{time:.65f}", "at most 64"),
        ("{title:.100000000}", "at most 64"),
        ("{frame:c}", "cannot be filled in"),
        ("{file:.2f}", "cannot be filled in"),
        ("{time:d}", "cannot be filled in"),
    ],
)
def test_values_in_texts_that_are_refused(text: str, problem: str) -> None:
    """They are refused before anything is drawn: `scene check` refuses them, too."""
    with pytest.raises(SceneError, match=problem):
        raytracer.TextLabel(text)


@pytest.mark.parametrize("text", ["{spheres:{time.__class__}}", "{frame:100}", "{spheres.real}"])
@pytest.mark.parametrize("command", ["render", "animate", "export", "scene check"])
def test_no_command_takes_such_texts(
    text: str, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scene = tmp_path / "a.toml"
    ball = "[[spheres]]\ncenters = [[0, 0, 0]]\nradius = 1\n"
    scene.write_text(f'[[texts]]\ntext = "{text}"\n{ball}')
    options = {"render": ["-o", "a.png"], "export": ["-o", "a.html"], "scene check": []}
    options["animate"] = ["-o", "a.gif", "--turntable", "1s"]
    words = [*command.split(), str(scene), *options[command]]
    assert main(words) == 2
    said = [capsys.readouterr().err]
    if command != "scene check":
        scene.write_text(ball)
        assert main([*words, "--title", text]) == 2
        said.append(capsys.readouterr().err)
    for each in said:
        assert text.partition(":")[0] in each
        assert each.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{spheres:,} of {title}, {time:.2f} {time_unit}", "1,234 of ice, 2.50 ps"),
        ("{{{frame:04d}}} {spheres:>64}|{seconds:*^+9.1e}", f"{{0007}} {'1234':>64}|+1.5e+00*"),
        ("{title:>4}{time}{file:.2}", " ice2.5a."),
    ],
)
def test_formats_are_those_of_python(text: str, expected: str) -> None:
    values = {
        "spheres": 1234, "title": "ice", "time": 2.5, "time_unit": "ps", "frame": 7,
        "seconds": 1.5, "file": "a.xyz",
    }  # fmt: skip
    assert fill_in(text, values) == expected


def test_a_long_title_that_is_named_many_times() -> None:
    assert len(fill_in("{title}" * 10, {"title": "x" * 100_000})) == 1_000_000
    with pytest.raises(SceneError, match="more than 1,000,000 letters"):
        fill_in("{title}" * 1000, {"title": "x" * 100_000})


@pytest.mark.parametrize("size", [(1, 1), (7, 300), (300, 7)])
def test_annotations_of_tiny_pictures(size: tuple[int, int]) -> None:
    drawn = raytracer.Annotations(
        legend=Legend(), axes=Axes(), texts=[raytracer.TextLabel("x²")], outline=raytracer.Outline()
    )
    pixels = picture(drawn, scales=[SPEED], width=size[0], height=size[1]).pixels()
    assert pixels.shape == (size[1], size[0], 4)
    assert (pixels[..., 3] == 255).all()


def colors_in(image: raytracer.Image) -> set[tuple[int, ...]]:
    """All colours of a picture."""
    return {tuple(color) for color in image.to_uint8().reshape(-1, 3).tolist()}


@pytest.mark.parametrize("place", ["right", "top", "bottom-left"])
@pytest.mark.parametrize("count", [3, 75])
def test_categories_stand_in_columns_inside_of_the_picture(place: str, count: int) -> None:
    colors = [(0.2 + 0.01 * (k % 75), 0.5, 0.9) for k in range(count)]
    scale = ColorScale(colors, "categorical", names=tuple(f"{k}" for k in range(count)))
    found = colors_in(picture(Annotations(legend=Legend(place=place)), scales=[scale], dpi=30.0))
    assert {tuple(color) for color in scale.palette[:-1].tolist()} <= found


def test_elements_and_types_have_a_legend(tmp_path: Path) -> None:
    path = tmp_path / "a.xyz"
    path.write_text("3\n\nO 0 0 0\nH 1 0 0\nH -1 0 0\n")
    settings = {"width": 200, "height": 100, **SMALL}
    scales = find_scales(raytracer.load(path))
    assert [(scale.label, scale.names) for scale in scales] == [("element", ("O", "H"))]
    image = raytracer.render(path, annotations={"legend": True}, **settings)
    assert {tuple(color) for color in scales[0].palette[:2].tolist()} <= colors_in(image)
    table = tmp_path / "a.csv"
    table.write_text("x,y,z,type\n0,0,0,2\n1,0,0,1\n")
    assert [(each.label, each.names) for each in find_scales(raytracer.load(table))] == [
        ("type", ("2", "1"))
    ]
    with pytest.raises(SceneError, match="leave the legend out, or set --color-by"):
        raytracer.render(path, color="red", annotations={"legend": True}, **settings)


QUICK: dict[str, Any] = {"width": 240, "height": 180, "samples": 1, "backend": "cpu"}


def texts_of(image: Any) -> list[str]:
    assert image.overlay is not None
    return [each.text for each in image.overlay.shapes if isinstance(each, Text)]


@pytest.mark.parametrize("first", ["bottom", "top", "left", "right"])
def test_boxes_at_different_places_do_not_overlap(first: str) -> None:
    sheet = Sheet(300, 200, dpi=72.0)
    wide = first in ("bottom", "top")
    sheet.reserve(first, *((250.0, 20.0) if wide else (40.0, 170.0)))
    for corner in ("bottom-left", "bottom-right", "top-left", "top-right"):
        sheet.reserve(corner, 60.0, 30.0)
    for index, box in enumerate(sheet.boxes):
        assert not any(box.is_overlapping(other) for other in sheet.boxes[:index])
        assert 0.0 <= box.x <= 300 - box.width
        assert 0.0 <= box.y <= 200 - box.height


def test_a_picture_without_room_keeps_places_at_the_edge() -> None:
    sheet = Sheet(100, 40, dpi=72.0)
    sheet.reserve("bottom", 90.0, 30.0)
    x, y = sheet.reserve("bottom-left", 30.0, 30.0)
    assert (x, y) == (12.0, 40 - 12 - 30)


@pytest.mark.parametrize(
    ("name", "text", "unit"),
    [
        ("a.xyz", "2\n\nC 0 0 0\nO 0 0 1.2\n", "Å"),
        ("a.csv", "x [m],y [m],z [m]\n0,0,0\n1,1,1\n", "m"),
        ("b.csv", "Pos.x [mm],Pos.y [mm],Pos.z [mm]\n0,0,0\n1,1,1\n", "mm"),
        ("c.csv", "x,y,z\n0,0,0\n1,1,1\n", ""),
    ],
)
def test_a_scale_bar_has_the_unit_of_the_file(
    tmp_path: Path, name: str, text: str, unit: str
) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert find_length_unit(raytracer.load(path).spheres) == unit
    with collect_warnings():
        image = raytracer.render(path, annotations={"scale_bar": True}, **QUICK)
        stated = raytracer.render(path, annotations={"scale_bar": {"unit": "pc"}}, **QUICK)
        none = raytracer.render(path, annotations={"scale_bar": {"unit": ""}}, **QUICK)
    (shown,) = texts_of(image)
    assert shown.partition(" ")[2] == unit
    assert texts_of(stated)[0].endswith(" pc")
    assert " " not in texts_of(none)[0]


LONG = "Volume-averaged hydrostatic component of the local virial stress, coarse-grained over 5 Å"


@pytest.mark.parametrize("size", [(480, 360), (200, 300)])
@pytest.mark.parametrize("place", ["right", "left", "top", "bottom", "top-left", "bottom-right"])
@pytest.mark.parametrize("text", [LONG, "x" * 150, "short"])
def test_long_texts_stay_inside_of_the_picture(
    place: str, text: str, size: tuple[int, int]
) -> None:
    """Titles are wrapped with all their letters; names of categories are shortened and differ."""
    names = tuple(f"{text} {number} {text}" for number in range(3))
    for scale in (ColorScale(label=text), ColorScale("tab10", "categorical", names=names)):
        drawn = Annotations(
            legend=Legend(place=place, label=text), texts=[raytracer.TextLabel(text)]
        )
        image = picture(drawn, scales=[scale], width=size[0], height=size[1])
        assert image.overlay is not None
        shown = [each for each in image.overlay.shapes if isinstance(each, Text)]
        for each in shown:
            start = each.x - each.anchor * measure_width(each.text, each.size)
            assert start >= 0.0
            assert start + measure_width(each.text, each.size) <= size[0]
            assert each.size <= each.y <= size[1]
        letters = "".join(each.text for each in shown).replace(" ", "")
        assert letters.count(text.replace(" ", "")) >= 2
        assert len(shown) == len({(each.text, each.y) for each in shown})


def test_letters_that_the_font_lacks_are_from_a_font_of_the_system(tmp_path: Path) -> None:
    """Measured, drawn and embedded with it; what no font has is named, once per picture."""
    known = next(
        (each for each in "∮⟨⊕♥☃温" if not find_missing_letters([each]) and other(each)), None
    )
    if known is None:
        pytest.skip("no font of this system has further letters")
    first, second = fonts.split_into_runs(f"a{known}", 20.0)
    assert (first.path, second.path != FONT) == (FONT, True)
    assert second.x == pytest.approx(first.x + font(20.0).getlength("a"))
    wanted = font(20.0, second.path).getmask(known)
    assert bytes(wanted) != bytes(font(20.0).getmask("\uffff"))
    with collect_warnings() as said:
        image = picture(Annotations(texts=[raytracer.TextLabel(f"{known} \U000e1234\ue123")]))
    assert said == []  # private and unassigned characters are not printed
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kind in ("svg", "pdf"):
            image.save(tmp_path / f"a.{kind}")
    assert known in (tmp_path / "a.svg").read_text(encoding="utf-8")


def other(letter: str) -> bool:
    return fonts.split_into_runs(letter, 20.0)[0].path != FONT


def test_letters_of_no_font_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fonts, "_system_fonts", lambda _: [])
    fonts._find_font.cache_clear()
    label = raytracer.TextLabel("温度 x² é 温 T")
    with collect_warnings() as said:
        image = picture(Annotations(texts=[label, label]))
    assert said == [
        "no font of this system has the characters 温度, which are drawn as boxes: install one "
        "that has them, as Noto Sans"
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        image.save(tmp_path / "a.pdf")
    fonts._find_font.cache_clear()
