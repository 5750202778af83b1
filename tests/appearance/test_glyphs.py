"""Box, axes, arrows, trails and contacts: where they are, beside plain arithmetic in float64."""

import gzip
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer.appearance.coloring.apply import style_scene
from raytracer.appearance.coloring.style import StyleSettings
from raytracer.appearance.glyphs.arrows import HEAD_SHARE, NEIGHBOURS, SLENDER
from raytracer.appearance.glyphs.make import particle_opacities, with_faded_particles
from raytracer.config.errors import UserError
from raytracer.config.field_types import import_name
from raytracer.config.fields import find_definitions
from raytracer.config.warning import collect_warnings
from raytracer.model.particle_source import Box
from raytracer.model.parts import GLYPHS
from raytracer.model.scene import Scene
from raytracer.model.solids import CapsuleSet
from raytracer.model.sphere_set import SphereSet
from raytracer.rendering.overrides import SceneOverrides
from raytracer.rendering.pipeline import apply_overrides, load_source
from raytracer.scene_files.source import InputSource
from reference.scene import Array
from support.particle_files import dump, write

GRID = np.stack(np.meshgrid(*[np.arange(4.0)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
TURNING = np.stack([-(GRID[:, 1] - 1.5), GRID[:, 0] - 1.5, 0.0 * GRID[:, 2]], axis=-1)
TRICLINIC = ((3.0, 0.0, 0.0), (1.0, 3.0, 0.0), (0.5, 1.0, 3.0))


def scene(**columns: Any) -> Scene:
    return Scene.from_arrays(GRID, radius=0.1, colors="gray", columns=columns)


def made(scene: Scene, over: Any = None, **changes: Any) -> Scene:
    """Return a scene with its glyphs, as it is packed; over: what is drawn over the picture."""
    return apply_overrides(scene, SceneOverrides.of(changes, over))


def named(scene: Scene, name: str) -> list[CapsuleSet]:
    return [each for each in (*scene.capsules, *scene.cones) if each.made_for == name]


def shafts(scene: Scene) -> CapsuleSet:
    return next(each for each in scene.capsules if each.made_for == "arrows")


# Arrows


def test_arrows_begin_at_particles_and_have_the_length_of_their_vectors() -> None:
    shown = made(scene(velocity=TURNING), arrows={"vector": "velocity", "scale": 0.25})
    (heads,) = shown.cones
    rods = shafts(shown)
    assert rods.starts == pytest.approx(GRID)
    assert heads.ends == pytest.approx(GRID + 0.25 * TURNING)
    assert heads.starts == pytest.approx(rods.ends)
    assert (np.asarray(heads.radius) > 2 * np.asarray(rods.radius)).all()
    long = np.linalg.norm(0.25 * TURNING, axis=1)
    assert (np.linalg.norm(heads.ends - heads.starts, axis=1) <= HEAD_SHARE * long + 1e-6).all()


def test_the_longest_arrow_has_a_length_that_suits_the_scene() -> None:
    for factor in (1e-6, 1.0, 1e9):
        rods = shafts(shown := made(scene(velocity=factor * TURNING), arrows="velocity"))
        tips = shown.cones[0].ends
        longest = np.linalg.norm(tips - rods.starts, axis=1).max()
        spacing = 3.0 / 64 ** (1 / 3)
        assert longest == pytest.approx(min(NEIGHBOURS * spacing, 0.2 * 3 * 3**0.5), rel=1e-3)
        assert np.max(rods.radius) == pytest.approx(longest / SLENDER, rel=1e-3)


@pytest.mark.parametrize(("anchor", "share"), [("tail", 0.0), ("center", 0.5), ("tip", 1.0)])
def test_the_anchor_of_an_arrow_is_at_its_particle(anchor: str, share: float) -> None:
    shown = made(scene(v=TURNING), arrows={"vector": "v", "scale": 1.0, "anchor": anchor})
    at = (1 - share) * shafts(shown).starts + share * shown.cones[0].ends
    assert at == pytest.approx(GRID, abs=1e-6)


@pytest.mark.parametrize(
    ("columns", "vector"),
    [
        ({"vx": 0, "vy": 1, "vz": 2}, "velocity"),
        ({"fx": 0, "fy": 1, "fz": 2}, "force"),
        ({"mux": 0, "muy": 1, "muz": 2}, "dipole"),
        ({"u_x": 0, "u_y": 1, "u_z": 2}, "u"),
        ({"a": 0, "b": 1, "c": 2}, ["a", "b", "c"]),
        ({"a": 0, "b": 1, "c": 2}, "a,b,c"),
    ],
)
def test_vectors_are_found_by_their_components(columns: dict[str, int], vector: Any) -> None:
    field = scene(**{name: TURNING[:, axis] for name, axis in columns.items()})
    shown = made(field, arrows=vector if type(vector) is str else {"vector": vector})
    steps = shown.cones[0].ends - shafts(shown).starts
    assert np.cross(steps, TURNING) == pytest.approx(np.zeros((64, 3)), abs=1e-5)


def test_arrows_follow_selection_transform_and_colour() -> None:
    spheres = SphereSet(
        GRID,
        0.1,
        columns={"velocity": TURNING, "mass": GRID[:, 2]},
        transform=raytracer.Transform(scale=2.0, rotate=(0.0, 0.0, 90.0), translate=(1, 0, 0)),
    )
    rule = {"by": "mass", "map": "viridis"}
    shown = made(
        Scene(spheres=[spheres]),
        arrows={"select": "z > 1", "every": 3, "scale": 1.0, "color": rule},
    )
    rows = np.flatnonzero(GRID[:, 2] > 1)[::3]
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    assert shafts(shown).starts == pytest.approx(2 * GRID[rows] @ turn.T + [1, 0, 0], abs=1e-6)
    steps = shown.cones[0].ends - shafts(shown).starts
    assert steps == pytest.approx(TURNING[rows] @ turn.T, abs=1e-6)
    (scale,) = shown.color_scales
    assert (scale.label, scale.low, scale.high) == ("mass", 2.0, 3.0)


def test_arrows_of_no_length_are_left_out() -> None:
    vectors = np.where(GRID[:, :1] > 0, TURNING, np.nan)
    vectors[-1] = 0.0
    assert shafts(made(scene(velocity=vectors), arrows=True)).count == 47
    with pytest.warns(UserWarning, match="all vectors are zero"):
        assert not made(scene(velocity=0 * TURNING), arrows=True).capsules


# Box and axes


def test_a_box_is_twelve_rods_between_its_corners() -> None:
    box = {"edges": TRICLINIC, "origin": (1.0, 2.0, 3.0), "radius": 0.05, "color": "red"}
    (rods,) = named(made(scene(), {"box": box}), "box")
    a, b, c = map(np.array, TRICLINIC)
    corners = {(i, j, k): [1, 2, 3] + i * a + j * b + k * c for i, j, k in np.ndindex(2, 2, 2)}
    expected = [
        (corners[one], corners[other])
        for one in corners
        for other in corners
        if sum(abs(p - q) for p, q in zip(one, other, strict=True)) == 1 and one < other
    ]
    ends = {tuple(np.round([*s, *e], 5)) for s, e in zip(rods.starts, rods.ends, strict=True)}
    assert ends == {tuple(np.round([*s, *e], 5)) for s, e in expected}
    assert rods.radius == 0.05


@pytest.mark.parametrize("place", ["origin", "box"])
def test_axes_in_the_scene_are_three_arrows(place: str) -> None:
    spheres = SphereSet(GRID, 0.1)
    spheres.data = spheres.data._replace(box=Box((-1.0, -1.0, -1.0), TRICLINIC))
    shown = made(Scene(spheres=[spheres]), {"axes": {"place": place, "extent": 2.0}})
    start = np.zeros(3) if place == "origin" else -np.ones(3)
    tips = np.concatenate([each.ends for each in shown.cones])
    assert tips == pytest.approx(start + 2.0 * np.eye(3))


def test_axes_and_arrows_far_from_the_origin_are_those_near_it() -> None:
    far = 1e12
    box = {"edges": TRICLINIC, "origin": (far, -far, far)}
    shown = made(Scene.from_arrays(GRID + box["origin"], radius=0.1),
                 {"box": box, "axes": {"place": "box", "extent": 2.0}})  # fmt: skip
    heads = np.concatenate([each.ends for each in shown.cones]) - box["origin"]
    assert heads == pytest.approx(2.0 * np.eye(3), abs=4 * np.spacing(far))


@pytest.mark.parametrize("far", [1e12, 1e16])
def test_arrows_below_float_precision_end_as_one_sentence(far: float) -> None:
    points = np.array([[far, 0.0, 0.0], [far, 0.0, 1.0]])
    vectors = {"velocity": np.array([[1e-6, 0.0, 0.0], [0.0, 1e-6, 0.0]])}
    with pytest.raises(UserError, match=r"^arrows: some are shorter than float64") as caught:
        made(Scene.from_arrays(points, radius=0.5, columns=vectors), arrows={"scale": 1.0})
    assert len(caught.value.sentences) == 1


# Contacts


def test_contacts_of_overlapping_spheres_are_as_thick_as_the_overlap() -> None:
    centers = np.array([[0.0, 0, 0], [0.9, 0, 0], [1.8, 0.4, 0], [5.0, 0, 0]])
    shown = made(Scene.from_arrays(centers, radius=0.5), contacts={"least": 0.0, "radius": 0.2})
    (rods,) = shown.capsules
    pairs = [(0, 1), (1, 2)]
    overlaps = np.array([1.0 - np.linalg.norm(centers[i] - centers[j]) for i, j in pairs])
    assert rods.count == 2
    order = np.argsort(rods.starts[:, 0])
    assert np.asarray(rods.radius)[order] == pytest.approx(
        0.2 * np.minimum(overlaps / np.quantile(overlaps, 0.995), 1.0), rel=1e-5
    )
    assert shown.color_scales[0].label == "overlap"


LOCAL = dump(
    "c_pair[1] c_pair[2] c_pair[3] c_force",
    ["10 20 1.0 2.0", "20 30 1.5 4.0", "10 99 2.0 8.0"],
    what="ENTRIES",
)
ATOMS = dump("id type x y z radius", ["30 1 9.5 5 5 0.5", "10 1 0.5 5 5 0.5", "20 1 1.4 5 5 0.5"])


@pytest.mark.parametrize("suffix", ["dump", "csv"])
def test_contacts_come_from_a_list(suffix: str, tmp_path: Path) -> None:
    (tmp_path / "grains.dump").write_text(ATOMS)
    text = LOCAL if suffix == "dump" else "id1,id2,fn\n10,20,2\n20,30,4\n10,99,8\n"
    (tmp_path / f"forces.{suffix}").write_text(text)
    (tmp_path / "a.toml").write_text(
        f'[[spheres]]\nfile = "grains.dump"\n[contacts]\nfile = "forces.{suffix}"\n'
        + ('by = "`c_force`"\n' if suffix == "dump" else "")
        + "least = 0.0\nradius = 0.1\n"
    )
    shown = made(raytracer.load(tmp_path / "a.toml"))
    (rods,) = shown.capsules
    ends = sorted(zip(rods.starts.tolist(), rods.ends.tolist(), strict=True))
    # The second goes through the side of the box, to the image of grain 30: two halves.
    assert ends == [
        ([pytest.approx(0.5), 5, 5], [pytest.approx(1.4), 5, 5]),
        ([pytest.approx(1.4), 5, 5], [pytest.approx(0.45), 5, 5]),
        ([pytest.approx(9.5), 5, 5], [pytest.approx(10.45), 5, 5]),
    ]
    assert sorted(rods.radius) == pytest.approx([0.1 * 2 / 3.99, 0.1, 0.1], rel=1e-3)  # type: ignore[arg-type]


def at_steps(frames: dict[int, list[str]], names: str, what: str = "ATOMS") -> str:
    """Return a dump with a frame for each step."""
    heads = (f"ITEM: TIMESTEP\n{step}\n" for step in frames)
    bodies = (dump(names, rows, what=what).split("\n", 2)[2] for rows in frames.values())
    return "".join(head + body for head, body in zip(heads, bodies, strict=True))


GRAINS = at_steps(
    {step: [f"{n} {2 * n} 5 5 1" for n in (1, 2, 3)] for step in (0, 1000, 2000)}, "id x y z radius"
)
PAIRS = {0: (1, 2), 500: (1, 3), 1000: (2, 3), 1500: (1, 3)}
"""The contact of each step; there is none of the last step of the grains."""


@pytest.mark.parametrize("kind", ["one.local", "one.local.gz", "step_*.local", "table.csv"])
def test_contacts_are_those_of_the_time_of_the_particles(kind: str, tmp_path: Path) -> None:
    lists = {step: at_steps({step: [f"{i} {j} 5"]}, "i j force", "ENTRIES")
             for step, (i, j) in PAIRS.items()}  # fmt: skip
    if "*" in kind:
        for step, text in lists.items():
            write(tmp_path / f"step_{step}.local", text)
    elif kind == "table.csv":
        rows = [f"{step},{n},{i},{j},5" for step, (i, j) in PAIRS.items()
                for n, (i, j) in enumerate([(i, j), (j, i)])]  # fmt: skip
        write(tmp_path / kind, "\n".join(["step,id,i,j,force", *rows, ""]))
    else:
        content = "".join(lists.values()).encode()
        write(tmp_path / kind, gzip.compress(content) if kind.endswith("gz") else content)
    write(tmp_path / "grains.dump", GRAINS)
    write(tmp_path / "a.toml",
          f'[[spheres]]\nfile = "grains.dump"\n[contacts]\nfile = "{kind}"\n')  # fmt: skip
    for frame, pair in enumerate([(1, 2), (2, 3)]):
        for scene in (raytracer.load(tmp_path / "a.toml", frame),
                      raytracer.load(tmp_path / "a.toml", frame - 3)):  # fmt: skip
            (rods,) = made(scene).capsules
            ends = {*rods.starts[:, 0].round(4).tolist(), *rods.ends[:, 0].round(4).tolist()}
            assert {min(ends), max(ends)} == {2.0 * pair[0], 2.0 * pair[1]}
    with pytest.warns(raytracer.RaytracerWarning) as said:
        assert not made(raytracer.load(tmp_path / "a.toml", 2)).capsules
    assert str(said[0].message).endswith(
        f"{kind} states none for the time of some frames: they are left out there"
    )


@pytest.mark.parametrize(
    ("frames", "expected", "said"),
    [
        # Lists without steps are matched by number, and one list is drawn with all frames.
        ("2\nProperties=i:I:1:j:I:1:pos:R:3\n1 2 0 0 0\n1 2 0 0 0\n" * 2
         + "1\nProperties=i:I:1:j:I:1:pos:R:3\n2 3 0 0 0\n", 6.0, "are matched by number"),
        (at_steps({7: ["2 3 5"]}, "i j force", "ENTRIES"), 6.0, "they are drawn with all frames"),
    ],
)  # fmt: skip
def test_contacts_without_common_times(
    frames: str, expected: float, said: str, tmp_path: Path
) -> None:
    write(tmp_path / "grains.dump", GRAINS)
    name = write(tmp_path / f"c.{'local' if 'ITEM' in frames else 'xyz'}", frames).name
    contacts = f'[contacts]\nfile = "{name}"\nby = "length"\n'
    write(tmp_path / "a.toml", f'[[spheres]]\nfile = "grains.dump"\n{contacts}')
    with pytest.warns(raytracer.RaytracerWarning, match=said):
        (rods,) = made(raytracer.load(tmp_path / "a.toml", 2)).capsules
    assert max(rods.starts[:, 0].max(), rods.ends[:, 0].max()) == pytest.approx(expected)


@pytest.mark.parametrize(("name", "first"), [("c.local", 1), ("c.csv", 0)])
def test_contacts_of_particles_without_ids_are_counted(
    name: str, first: int, tmp_path: Path
) -> None:
    """In a local dump from 1, as LAMMPS counts atoms; in a table from 0, as the column id."""
    pair = f"{first + 1} {first + 2} 5"
    text = at_steps({0: [pair]}, "i j force", "ENTRIES")
    write(tmp_path / name, text if first else f"i,j,force\n{pair.replace(' ', ',')}\n")
    write(tmp_path / "a.xyz", "3\n\nC 2 0 0\nC 4 0 0\nC 6 0 0\n")
    write(tmp_path / "a.toml",
          f'[[spheres]]\nfile = "a.xyz"\n[contacts]\nfile = "{name}"\n')  # fmt: skip
    said = rf"a\.xyz states no ids of particles, so .*{name} counts them from {first}"
    with pytest.warns(raytracer.RaytracerWarning, match=said):
        (rods,) = made(raytracer.load(tmp_path / "a.toml")).capsules
    assert {*rods.starts[:, 0].tolist(), *rods.ends[:, 0].tolist()} == {4.0, 6.0}


# Trails


def frames_of(path: Path, places: Array, ids: bool = False) -> Path:
    """Write frames of three particles in a periodic box, in any order if they have ids."""
    rng, lines = np.random.default_rng(4), []
    kind = "id:I:1:pos:R:3" if ids else "species:S:1:pos:R:3"
    for frame in places:
        lines += ["3", f'Lattice="10 0 0 0 10 0 0 0 10" pbc="T T T" Properties={kind}']
        for row in rng.permutation(3) if ids else range(3):
            x, y, z = frame[row]
            lines.append(f"{row if ids else 'H'} {x:.9f} {y:.9f} {z:.9f}")
    return write(path, "\n".join(lines) + "\n")


WALK = np.cumsum(np.random.default_rng(4).normal(size=(5, 3, 3)), axis=0) % 10.0


@pytest.mark.parametrize("ids", [False, True])
@pytest.mark.parametrize("last", [None, 2])
def test_trails_join_the_places_of_each_particle(
    ids: bool, last: int | None, tmp_path: Path
) -> None:
    walk = frames_of(tmp_path / "walk.xyz", WALK, ids)
    shown = made(raytracer.load(walk, 3), trails={"last": last})
    (tubes,) = shown.capsules
    frames = range(0, 4) if last is None else range(1, 3)
    expected = sorted(
        [*WALK[k, row], *WALK[k + 1, row]]
        for k in frames
        for row in range(3)
        if (np.abs(WALK[k + 1, row] - WALK[k, row]) < 5.0).all()
    )
    assert sorted(np.hstack([tubes.starts, tubes.ends]).tolist()) == [
        pytest.approx(each, abs=1e-5) for each in expected
    ]


def test_trails_have_the_colour_of_time(tmp_path: Path) -> None:
    walk = frames_of(tmp_path / "walk.xyz", WALK, ids=True)
    shown = made(raytracer.load(walk, 4), trails="all,color=time,map=plasma")
    (scale,) = shown.color_scales
    steps = np.abs(WALK[1:] - WALK[:-1]).max(axis=2)
    times = np.flatnonzero(steps.min(axis=1) < 5.0) + 0.5
    assert (scale.label, scale.low, scale.high) == ("time", times[0], times[-1])


CROSSING = np.array([[[8.0 + 1.5 * k, 5, 5], [3, 3 + 0.1 * k, 3], [6, 6, 2 + k]] for k in range(5)])
"""Three particles in five frames, of which the first leaves a box of 10, unwrapped."""

CHOSEN = StyleSettings(select="index >= 1")


def crossing(folder: Path, places: Array = CROSSING % 10.0) -> Path:
    return frames_of(folder / "crossing.xyz", places)


def ends_of(shown: Scene) -> list[list[float]]:
    (tubes,) = shown.capsules
    return sorted(np.hstack([tubes.starts, tubes.ends]).round(5).tolist())


def steps_of(places: Array) -> list[Any]:
    """Return the steps of particles, (F, M, 3), as `ends_of` does."""
    steps = np.concatenate([places[:-1], places[1:]], axis=2).reshape(-1, 6)
    return [pytest.approx(each, abs=1e-4) for each in sorted(steps.round(5).tolist())]


def test_trails_are_those_of_the_particles_that_are_selected(tmp_path: Path) -> None:
    path = crossing(tmp_path)
    shown = made(style_scene(raytracer.load(path, 3), CHOSEN), trails="all")
    assert ends_of(shown) == steps_of(CROSSING[:, 1:])


@pytest.mark.parametrize("step", [1, 3])
def test_trails_of_unwrapped_particles_go_on_through_the_side(step: int, tmp_path: Path) -> None:
    shown = load_source(InputSource.of(crossing(tmp_path), frame=3, unwrap=True))
    found = ends_of(made(shown, trails={"last": None, "step": step}))
    assert found == steps_of(CROSSING[::-1][::step][::-1])


def test_trails_end_at_wrapped_smoothed_and_repeated_particles(tmp_path: Path) -> None:
    path = crossing(tmp_path)
    repeated = replace(CHOSEN, replicate=(2, 1, 1))
    images = ends_of(made(style_scene(raytracer.load(path, 1), repeated), trails={"last": 1}))
    both = np.concatenate([CROSSING[:2, 1:], CROSSING[:2, 1:] + [10, 0, 0]], axis=1)
    assert images == steps_of(both)
    loaded = raytracer.load(crossing(tmp_path, CROSSING), 4)
    inside = made(style_scene(loaded, StyleSettings(wrap=True)), trails={"last": 2})
    assert ends_of(inside) == steps_of(CROSSING[2:] - [[10, 0, 0], [0, 0, 0], [0, 0, 0]])
    path = crossing(tmp_path)
    shown = load_source(InputSource.of(path, frame=4, smoothing=4))
    (tubes,) = made(shown, trails={"last": 1}).capsules
    assert tubes.ends == pytest.approx(np.asarray(shown.spheres[0].centers), abs=1e-5)


def test_a_frame_without_particles_interrupts_trails(tmp_path: Path) -> None:
    frames = [
        dump("id type x y z", [f"7 1 {k} 5 5"] * count, k) for k, count in enumerate((1, 1, 0, 1))
    ]
    (tmp_path / "a.dump").write_text("".join(frames))
    shown = made(raytracer.load(tmp_path / "a.dump", 3), trails="all")
    assert ends_of(shown) == [[0, 5, 5, 1, 5, 5]]


def test_a_damaged_frame_interrupts_trails(tmp_path: Path) -> None:
    """It has no particle anywhere, at the origin neither; rows are matched, as there are no ids."""
    frames = [dump("type x y z", [f"1 {k + 2} 5 5"], k) for k in range(4)]
    frames[2] = frames[2].replace("1 4 5 5", "1 four 5 5")
    path = write(tmp_path / "a.dump", "".join(frames))
    shown = made(raytracer.load(path, 3), trails="all")
    assert ends_of(shown) == [[2, 5, 5, 3, 5, 5]]


# Ellipsoids

ELLIPSOIDS = dump(
    "id type x y z c_shape[1] c_shape[2] c_shape[3] c_quat[1] c_quat[2] c_quat[3] c_quat[4]",
    ["1 1 1 2 3 4 2 1 1 0 0 0", "2 1 5 5 5 2 2 2 0.70710678 0 0 0.70710678"],
    box="ff ff ff",
)


def test_particles_with_axes_are_ellipsoids(tmp_path: Path) -> None:
    (tmp_path / "a.dump").write_text(ELLIPSOIDS)
    plain = raytracer.load(tmp_path / "a.dump")
    image = raytracer.render(plain, shape="ellipsoid", width=32, height=24, samples=1)
    assert (image.metadata["spheres"], image.metadata["ellipsoids"]) == (0, 2)
    assert not made(plain, shape=False).ellipsoids
    with pytest.raises(UserError, match="no particles have the columns of ellipsoids"):
        made(scene(), shape="ellipsoid")


EXTENDED = """2
Properties=species:S:1:pos:R:3:aspherical_shape:R:3:orientation:R:4
Ar 1 2 3 2 1 0.5 0 0 0 1
Ar 5 5 5 1 1 1 0 0 0.70710678 0.70710678
"""  # as OVITO writes it: semi-axes, and quaternions with w last


@pytest.mark.parametrize(("name", "text"), [("a.dump", ELLIPSOIDS), ("a.xyz", EXTENDED)])
def test_files_of_ellipsoids_show_them_unasked(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    (shown,) = made(raytracer.load(tmp_path / name)).ellipsoids
    root = 0.5**0.5
    assert shown.semi_axes == pytest.approx(np.array([[2, 1, 0.5], [1, 1, 1]]))
    assert shown.orientation == pytest.approx(np.array([[1, 0, 0, 0], [root, 0, 0, root]]))
    small: dict[str, Any] = {"width": 32, "height": 24, "samples": 1, "backend": "cpu"}
    assert raytracer.render(tmp_path / name, **small).metadata["ellipsoids"] == 2
    spheres = raytracer.render(tmp_path / name, shape=False, **small)
    assert spheres.metadata["spheres"] == 2


@pytest.mark.parametrize(
    ("old", "new"),
    [("4 2 1 1 0", "0 0 0 1 0"), ("1 1 0 0 0\n", "1 0 0 0 0\n"), ("c_quat[4]", "c_q[4]")],
    ids=["a point", "no orientation", "columns missing"],
)
def test_particles_that_are_no_ellipsoids_stay_spheres(tmp_path: Path, old: str, new: str) -> None:
    assert old in ELLIPSOIDS
    (tmp_path / "a.dump").write_text(ELLIPSOIDS.replace(old, new))
    with pytest.warns(raytracer.RaytracerWarning, match="are drawn as spheres, not as ellipsoids"):
        scene = raytracer.load(tmp_path / "a.dump")
    assert scene.shape is None
    assert made(scene).counts() == {"sphere": 2}


@pytest.mark.parametrize("block", [8, 2])
def test_superellipsoids_are_said_to_be_drawn_as_ellipsoids(block: int, tmp_path: Path) -> None:
    (tmp_path / "a.dump").write_text(dump(
        "id x y z shapex shapey shapez quatw quati quatj quatk block1 block2",
        [f"1 1 1 1 2 2 2 1 0 0 0 2 {block}", "2 5 5 5 2 2 2 1 0 0 0 2 2"],
    ))  # fmt: skip
    with collect_warnings() as said:
        assert made(raytracer.load(tmp_path / "a.dump")).counts()["ellipsoid"] == 2
    assert said == [
        f"{tmp_path / 'a.dump'}: superellipsoids (block1, block2) are drawn as ellipsoids"
    ] * (block != 2)


def test_axes_and_orientations_may_be_any_columns() -> None:
    turns = np.tile([1.0, 0.0, 0.0, 1.0], (64, 1))
    field = scene(a=GRID[:, 0] + 1, q=turns)
    said = {"axes": ["a", "2", "1"], "orientation": "q", "scale": 0.1}
    (shown,) = made(field, shape=said).ellipsoids
    expected = 0.1 * np.stack([GRID[:, 0] + 1, np.full(64, 2.0), np.ones(64)], axis=-1)
    assert shown.semi_axes == pytest.approx(expected)
    assert shown.orientation == pytest.approx(turns / 2**0.5)


# What is refused, and what a picture says


def test_made_again_glyphs_are_not_added_twice() -> None:
    once = made(scene(velocity=TURNING), arrows="velocity,color=length")
    twice = made(once)
    assert len(twice.capsules) == len(once.capsules)
    assert len(twice.color_scales) == 1


@pytest.mark.parametrize("name", GLYPHS)
def test_a_glyph_that_has_an_opacity_of_the_particles_applies_it(name: str) -> None:
    """Also one that is new; ribbons fade only the atoms that they show."""
    kind = import_name(f"raytracer.appearance.glyphs.settings:{name.capitalize()}")
    is_stated = "particles" in find_definitions(kind) and name != "ribbons"
    settings: Any = {name: kind(particles=0.25)} if "particles" in find_definitions(kind) else {}
    scene = Scene([SphereSet(np.eye(3), 0.2)], **settings)
    assert particle_opacities(scene) == [0.25] * is_stated
    if is_stated:
        assert np.all(with_faded_particles(scene).spheres[0].opacity == 0.25)
