"""Files of molecular dynamics: what other libraries write is read to the last digit kept."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer import load
from raytracer.commands.cli import main
from raytracer.config.errors import UserError
from raytracer.config.warning import collect_warnings
from raytracer.files import inputs
from raytracer.model.data_file import DataFile
from raytracer.model.elements import find_element
from raytracer.model.particle_source import Box
from raytracer.model.scene import Scene
from raytracer.particles.molecules import FIRST_SHOWN, guess_element
from raytracer.particles.objects.registry import read_object
from raytracer.particles.read import count_frames, open_source, read
from raytracer.rendering.overrides import SceneOverrides
from raytracer.rendering.pipeline import apply_overrides, prepare
from raytracer.scene_files.bare import ATOM
from raytracer.scene_files.source import InputSource
from raytracer.trajectory.source import open_frames
from support.molecules import helix_record, pdb, peptide, sheet_record
from support.particle_files import complaint, dump, refusal, write
from support.particle_texts import LAMMPS_DATA, PDB

RNG = np.random.default_rng(5)
SYMBOLS = ["C", "H", "O", "N", "Cu", "Cl"]
POINTS = RNG.uniform(1.0, 9.0, (6, 3))


def test_the_cell_of_a_crystal_is_filled(tmp_path: Path) -> None:
    pytest.importorskip("gemmi")
    text = """data_NaCl
_cell_length_a 5.64
_cell_length_b 5.64
_cell_length_c 5.64
_cell_angle_alpha 90
_cell_angle_beta 90
_cell_angle_gamma 90
_symmetry_space_group_name_H-M 'F m -3 m'
loop_
_atom_site_label
_atom_site_type_symbol
_atom_site_fract_x
_atom_site_fract_y
_atom_site_fract_z
Na1 Na 0 0 0
Cl1 Cl -0.5 0.5 1.5
"""
    scene = load(write(tmp_path / "a.cif", text))
    assert scene.count == 8
    fractions = scene.spheres[0].centers / 5.64
    np.testing.assert_allclose(np.unique(fractions.round(9)), [0.0, 0.5])
    assert scene.describe(0).values["element"] == "Na"


PSF = """\
PSF

       1 !NTITLE
 REMARKS a title

       6 !NATOM
       1 A    1    MOL  C    CT     0.100000       12.0110           0
       2 A    1    MOL  H1   HC    -0.200000        1.0080           0
       3 A    1    MOL  O    OH1    0.000000       15.9990           0
       4 A    1    MOL  N    NH1    0.000000       14.0070           0
       5 A    2    CU   CU   CU     2.000000       63.5460           0
       6 A    3    CLA  CLA  CLA   -1.000000       35.4530           0

       2 !NBOND: bonds
       1       2       1       3

       0 !NTHETA: angles
"""


@pytest.fixture
def trajectory(tmp_path: Path) -> Path:
    """Two frames of six points without atoms."""
    chemfiles = pytest.importorskip("chemfiles")
    path = tmp_path / "a.xtc"
    with chemfiles.Trajectory(str(path), "w") as file:
        for number in range(2):
            frame = chemfiles.Frame()
            for point in POINTS:
                frame.add_atom(chemfiles.Atom("X"), (point + number).tolist())
            frame.step = number
            file.write(frame)
    return path


@pytest.mark.filterwarnings("ignore")
def test_a_topology_in_scene_files(
    tmp_path: Path, trajectory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert [note for _, note in read(trajectory).notes if "coordinates without atoms" in note]
    write(tmp_path / "atoms.psf", PSF)
    write(tmp_path / "few.xyz", "1\n\nC 0 0 0\n")
    text = '[[spheres]]\nfile = "a.xtc"\ntopology = "{}"\n'
    scene = load(write(tmp_path / "a.toml", text.format("atoms.psf")))
    expected = [find_element(symbol).radius for symbol in SYMBOLS]
    np.testing.assert_array_equal(scene.spheres[0].radius, expected)
    wrong = write(tmp_path / "b.toml", text.format("few.xyz"))
    assert "few.xyz: has 1 atoms, but a.xtc has 6" in refusal(wrong, capsys)
    inline = '[[spheres]]\ncenters = [[0, 0, 0]]\nradius = 1\ntopology = "few.xyz"\n'
    said = refusal(write(tmp_path / "c.toml", inline), capsys)
    assert "spheres[0].topology: is for a data file, but the set has no file" in said


def test_a_topology_in_python(tmp_path: Path, trajectory: Path) -> None:
    atoms = write(tmp_path / "atoms.psf", PSF)
    scene = load(trajectory, 1, topology=atoms)
    (spheres,) = scene.spheres
    np.testing.assert_allclose(spheres.centers, POINTS + 1, atol=6e-3)
    np.testing.assert_allclose(
        spheres.radius, [ATOM * (find_element(each).radius or 0.0) for each in SYMBOLS]
    )
    assert spheres.columns["residue"].tolist() == ["MOL"] * 4 + ["CU", "CLA"]
    np.testing.assert_allclose(spheres.columns["charge"], [0.1, -0.2, 0, 0, 2, -1])
    table = spheres.columns.bond_table()
    assert table is not None
    assert table[0].tolist() == [[0, 1], [0, 2]]
    assert scene.describe(4).values["name"] == "CU"
    source = InputSource.of(trajectory, topology=str(atoms), frame=0)
    with prepare(source, {"color_by": "mass"}, backend="cpu"):
        assert inputs.find_input(atoms) is not None
    frames = open_frames(InputSource.of(trajectory, topology=atoms))
    assert frames.count == 2
    assert frames.load(1).spheres[0].columns["name"].tolist()[3:] == ["N", "CU", "CLA"]
    before = frames.signature()
    write(atoms, PSF + "\n")
    assert frames.signature() != before


def test_a_topology_on_the_command_line(
    tmp_path: Path, trajectory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = (str(trajectory), "--topology", str(write(tmp_path / "atoms.psf", PSF)))
    assert main(["scene", "check", *given]) == 0
    said = capsys.readouterr().out
    assert "name residue" in said
    assert "atoms.psf" in said
    assert re.search("bonds +2", said)
    small = ("--size", "40x30", "--samples", "1", "--frame", "0", "-q")
    assert main(["render", *given, *small, "-o", str(tmp_path / "a.png")]) == 0
    assert capsys.readouterr().err == ""  # no warning of missing atoms


def test_a_topology_that_is_none(tmp_path: Path) -> None:
    pytest.importorskip("chemfiles")
    with pytest.raises(UserError, match="has atoms without coordinates: render their trajectory"):
        load(write(tmp_path / "a.psf", PSF))
    scene = write(tmp_path / "a.toml", "spheres = []\n")
    atoms = write(tmp_path / "few.xyz", "1\n\nC 0 0 0\n")
    with pytest.raises(UserError, match=r"topology: .*none.psf: there is no such file"):
        load(atoms, topology=tmp_path / "none.psf")
    with pytest.raises(UserError, match="topology: is for data"):
        load(scene, topology=atoms)
    with pytest.raises(UserError, match="topology: is for a file"):
        raytracer.render(np.zeros((1, 3)), topology=atoms)
    with pytest.raises(UserError, match=r"few.xyz: has 1 atoms, but .*two.xyz has 2"):
        load(write(tmp_path / "two.xyz", "2\n\nC 0 0 0\nC 2 0 0\n"), topology=atoms)


@pytest.mark.parametrize(
    ("particles", "species"),
    [
        ({"types": ["wall", "grain"], "typeid": [0, 1, 1]}, ["wall", "grain", "grain"]),
        ({"types": ["Ar"]}, ["Ar"] * 3),  # gsd stores no types where all particles have the first
        ({"types": ["A"]}, None),  # what gsd assumes for a file without types
        ({"types": ["Ar"], "type_shapes": [{"type": "Ellipsoid", "a": "wide"}]}, ["Ar"] * 3),
    ],
)
@pytest.mark.filterwarnings("ignore:.*(taken as|type_shapes is not)")
def test_types_of_gsd(tmp_path: Path, particles: dict[str, Any], species: Any) -> None:
    hoomd = pytest.importorskip("gsd.hoomd")
    frame = hoomd.Frame()
    frame.particles.N, frame.particles.position = 3, np.eye(3, dtype=np.float32)
    frame.configuration.box = [10, 11, 12, 0.5, 0, 0]
    frame.bonds.N, frame.bonds.group = 2, [[0, 1], [1, 2]]
    for name, values in particles.items():
        setattr(frame.particles, name, values)
    path = tmp_path / "a.gsd"
    with hoomd.open(str(path), "w") as file:
        for frame.configuration.step in range(2):
            file.append(frame)
    with open_source(path) as source:
        assert source.bonds is not None
        np.testing.assert_array_equal(source.bonds, [[0, 1], [1, 2]])
        assert source.box is not None
        np.testing.assert_allclose(source.box.edges[1], (5.5, 11, 0))
    scene = load(path, -1)  # without a warning of missing atoms
    found = [scene.describe(number).values.get("species") for number in range(3)]
    assert found == (species or [None] * 3)


CUBE = [[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
EGG = {"type": "Ellipsoid", "a": 1.0, "b": 0.5, "c": 0.25}
SPIN = [[1, 0, 0, 0], [0.5, 0.5, 0.5, 0.5], [0, 0, 1, 0]]
OTHERS = "shapes other than spheres and ellipsoids are drawn as spheres: those of types "


@pytest.mark.parametrize(
    ("particles", "axes", "diameters", "note"),
    [
        # Semi-axes of ellipsoids, diameters of spheres, and what the warning says.
        ({"type_shapes": [EGG], "orientation": SPIN}, [[1, 0.5, 0.25]] * 3, None, ""),
        ({"types": ["B"], "type_shapes": [EGG], "orientation": SPIN}, [[1, 0.5, 0.25]] * 3, None,
         ""),
        ({"type_shapes": [EGG]}, [[1, 0.5, 0.25]] * 3, None, ""),  # not turned
        ({"types": ["u", "v"], "typeid": [0, 1, 1], "type_shapes": [EGG]},  # a partial list
         [[1, 0.5, 0.25], [0.5] * 3, [0.5] * 3], None, ""),
        ({"types": ["u", "v"], "typeid": [0, 1, 1], "type_shapes": [EGG, {}],
          "diameter": [1, 2, 3]}, [[1, 0.5, 0.25], [1] * 3, [1.5] * 3], None, ""),
        ({"types": ["u", "v"], "typeid": [0, 1, 1],
          "type_shapes": [{"type": "Sphere", "diameter": 3}, {"type": "Sphere", "diameter": 0.5}]},
         None, [3, 0.5, 0.5], ""),
        ({"type_shapes": [{"type": "ConvexPolyhedron", "rounding_radius": 0, "vertices": CUBE}],
          "orientation": SPIN}, None, None, OTHERS + "'A' (ConvexPolyhedron); --radius"),
        ({"types": ["u", "v", "w"], "typeid": [0, 1, 1], "type_shapes": [
            {"type": "ConvexPolyhedron", "rounding_radius": 0.1, "vertices": CUBE},
            {"type": "SphereUnion", "centers": [[0, 0, 0]], "diameters": [1]},
            {"type": "Mesh", "vertices": CUBE, "indices": [[0, 1, 2]]}]},  # of no particle
         None, None, OTHERS + "'u' (spheropolyhedron), 'v' (SphereUnion); --radius"),
        ({"types": ["u", "v"], "typeid": [0, 1, 1],
          "type_shapes": [EGG, {"type": "Polygon", "vertices": [[0, 0]], "rounding_radius": 0}]},
         [[1, 0.5, 0.25], [0.5] * 3, [0.5] * 3], None, OTHERS + "'v' (Polygon)"),
        ({"type_shapes": [{"type": "Ellipsoid", "a": 0.0}]}, None, None, "spheres are drawn"),
        ({"diameter": [0, 0, 0]}, None, None, "'diameter' of particles is 0: their radius"),
        ({"diameter": [0, 2, 4]}, None, [3, 2, 4], "'diameter' of some particles is 0: they"),
        ({"diameter": [1, 1, 1], "types": ["A"]}, None, None, ""),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:.*taken as")
def test_shapes_of_gsd(
    particles: dict[str, Any], axes: Any, diameters: Any, note: str, tmp_path: Path
) -> None:
    """A frame and its file give the same picture; a later frame has the shapes of the first."""
    hoomd = pytest.importorskip("gsd.hoomd")
    frame = hoomd.Frame()
    frame.particles.N, frame.particles.position = 3, 2.0 * np.eye(3, dtype=np.float32)
    for name, values in particles.items():
        setattr(frame.particles, name, values)
    later = hoomd.Frame()
    later.particles.N, later.particles.position = 1, [[0, 0, 0]]
    path = tmp_path / "a.gsd"
    with hoomd.open(str(path), "w") as file:
        file.append(frame)
        file.append(later)
    with hoomd.open(str(path), "r") as file:
        stored = list(file)
    for made in (frame, *stored[:1]):
        pictures = []
        for value in (path, made):
            with collect_warnings() as said:
                scene = load(path, 0) if value is path else Scene.from_object(value)
                pictures.append(apply_overrides(scene, SceneOverrides.of({}, None)))
            assert [note in each for each in said] == [True] * bool(note)
        for scene in pictures:
            if axes is not None:
                (eggs,) = scene.ellipsoids
                np.testing.assert_allclose(eggs.semi_axes, axes)
                continue
            (spheres,) = scene.spheres
            if diameters is not None:
                np.testing.assert_allclose(spheres.radius, 0.5 * np.array(diameters))
            np.testing.assert_array_equal(spheres.radius, pictures[0].spheres[0].radius)
        with collect_warnings():
            images = [raytracer.render(each, width=32, height=24, samples=1, frame=number)
                      for each, number in ((path, 0), (made, None))]  # fmt: skip
        one, other = (image.pixels() for image in images)
        np.testing.assert_array_equal(one, other)
    if axes is not None:
        with collect_warnings():
            (eggs,) = apply_overrides(load(path, 1), SceneOverrides.of({}, None)).ellipsoids
        np.testing.assert_allclose(eggs.semi_axes, axes[:1])


# Coarse-grained beads

_GRID = np.stack(np.meshgrid(*[np.arange(4.0)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
BEADS = 4.7 * _GRID + np.random.default_rng(1).normal(0.0, 0.2, _GRID.shape)
"""Places of beads, in angstrom, as far apart as in Martini."""

Bead = tuple[str, str, int]  # name, residue, and number of beads in it


def gro_of(beads: list[Bead], points: Any) -> str:
    rows = "".join(
        f"{n // size + 1:5d}{residue:<5}{name:>5}{n + 1:5d}{x:8.3f}{y:8.3f}{z:8.3f}\n"
        for n, (x, y, z) in enumerate((0.1 * points).tolist())
        for name, residue, size in [beads[n % len(beads)]]
    )
    return f"title\n{len(points)}\n{rows}2 2 2\n"


def pdb_of_beads(beads: list[Bead], points: Any, element: str = "") -> str:
    return "".join(
        f"ATOM  {n + 1:5d}  {name:<3} {residue:<3} A{n // size + 1:4d}    {x:8.3f}{y:8.3f}{z:8.3f}"
        f"  1.00  0.00          {element:>2}\n"
        for n, (x, y, z) in enumerate(points.tolist())
        for name, residue, size in [beads[n % len(beads)]]
    )


def xyz_of_beads(beads: list[Bead], points: Any) -> str:
    names = [beads[n % len(beads)][0] for n in range(len(points))]
    return f"{len(points)}\n\n" + "".join(
        f"{name} {x:.4f} {y:.4f} {z:.4f}\n"
        for name, (x, y, z) in zip(names, points.tolist(), strict=True)
    )


PROTEIN: list[Bead] = [("BB", "ALA", 2), ("SC1", "ALA", 2)]
LIPID: list[Bead] = [(name, "DPC", 4) for name in ("NC3", "PO4", "GL1", "C1A")]
WATER: list[Bead] = [("W", "W", 1)]
IONS: list[Bead] = [("W", "W", 1), ("WF", "WF", 1), ("NA+", "ION", 1)]


BEADS_OF = {"BB": PROTEIN, "NC3": LIPID, "W": WATER, "NA+": IONS}


@pytest.mark.parametrize(
    ("name", "kind"),
    [(name, kind) for name in BEADS_OF for kind in ("gro", "pdb", "pdb with elements", "xyz")
     if (name, kind) != ("W", "xyz")],  # which is tungsten
)  # fmt: skip
def test_beads_are_no_elements(name: str, kind: str, tmp_path: Path) -> None:
    beads = BEADS_OF[name]
    if kind == "gro":
        path = write(tmp_path / "a.gro", gro_of(beads, BEADS))
    elif kind == "xyz":
        path = write(tmp_path / "a.xyz", xyz_of_beads(beads, BEADS))
    else:
        path = write(tmp_path / "a.pdb", pdb_of_beads(beads, BEADS, "C" if "with" in kind else ""))
    data = read(path)
    assert data.labels is not None
    assert (data.labels.names, data.labels.meaning) == ([name for name, *_ in beads], "types")
    near = np.linalg.norm(BEADS[:, None] - BEADS, axis=2)
    np.fill_diagonal(near, np.inf)
    assert np.median(near.min(axis=1)) / 2 == pytest.approx(float(data.radius[0]), rel=0.05)  # type: ignore[index]
    assert ["coarse-grained beads" in text for _, text in data.notes] == [True]


@pytest.mark.parametrize("name", ["BB", "NC3", "W"])
def test_beads_whose_file_states_radii(name: str, tmp_path: Path) -> None:
    """They keep these, and have the colours of types."""
    pytest.importorskip("MDAnalysis")
    beads = BEADS_OF[name]
    rows = "".join(f"ATOM {n + 1} {each} {residue} {n // size + 1} {x:.3f} {y:.3f} {z:.3f} 0 2.35\n"
                   for n, (x, y, z) in enumerate(BEADS.tolist())
                   for each, residue, size in [beads[n % len(beads)]])  # fmt: skip
    data = read(write(tmp_path / "a.pqr", rows))
    assert data.labels is not None
    assert (data.labels.names, data.labels.meaning) == ([each for each, *_ in beads], "types")
    np.testing.assert_allclose(np.broadcast_to(data.radius, 64), 2.35)  # type: ignore[arg-type]
    assert ["coarse-grained beads" in text for _, text in data.notes] == [True]


@pytest.mark.parametrize(
    ("kind", "text", "radii"),
    [
        # A metal, molecules with dummy atoms, and atoms alone in their residues are no beads.
        ("gro", gro_of([("W", "W", 1)], 2.74 * _GRID), "W"),
        ("gro", gro_of([("OW", "SOL", 64)], BEADS), "O"),
        ("gro", gro_of([("CA", "GLY", 1)], 0.8 * BEADS), "C"),
        ("gro", gro_of([("AR", "AR", 1)], 0.8 * BEADS), "Ar"),
        ("pdb", pdb_of_beads([("BB", "LIG", 64), ("N", "LIG", 64)], 1.5 * _GRID), "B"),
        ("pdb", pdb_of_beads([("ZN", "ZN", 1), ("EP", "LIG", 1)], 5.0 * _GRID), "Zn"),
        ("gro", gro_of([("NA", "NA", 1), ("MW", "SOL", 1)], 5.0 * _GRID), "Na"),
        ("xyz", xyz_of_beads([("Cu", "", 1)], 3.6 * _GRID), "Cu"),
        ("xyz", xyz_of_beads([("O", "", 1), ("Du", "", 1)], 1.2 * _GRID), "O"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*taken as")
def test_atoms_are_no_beads(kind: str, text: str, radii: str, tmp_path: Path) -> None:
    data = read(write(tmp_path / f"a.{kind}", text))
    assert data.radius is not None
    assert data.radius[0] == find_element(radii).radius
    assert not any("coarse-grained" in text for _, text in data.notes)


@pytest.mark.parametrize(
    ("masses", "are_beads"),
    [((72.0, 72.0), True), ((183.84, 30.97), False), ((1.0, 1.0), False), ((3e-25, 5e-26), False)],
)
def test_masses_tell_beads_from_elements(
    masses: tuple[float, float], are_beads: bool, tmp_path: Path
) -> None:
    rows = [f"{n} {'WP'[n % 2]} {masses[n % 2]} {x} {y} {z}"
            for n, (x, y, z) in enumerate(BEADS.tolist())]  # fmt: skip
    dumped = write(tmp_path / "a.dump", dump("id element mass x y z", rows))
    atoms = "".join(f"{n + 1} {n % 2 + 1} {x} {y} {z}\n" for n, (x, y, z) in enumerate(BEADS))
    stored = write(tmp_path / "a.data", (
        f"title\n\n64 atoms\n2 atom types\n\nMasses\n\n1 {masses[0]} # W\n2 {masses[1]} # P\n\n"
        f"Atoms # atomic\n\n{atoms}"
    ))  # fmt: skip
    for path in (dumped, stored):
        data = read(path)
        assert data.radius is not None
        assert (data.radius[0] != find_element("W").radius) == are_beads
        said = any("coarse-grained" in text or "names of beads" in text for _, text in data.notes)
        assert said == are_beads


def test_names_that_are_numbers_tell_no_beads() -> None:
    arrays = {"positions": BEADS, "name": np.arange(64), "residue": np.arange(64)}
    data = read_object(arrays | {"element": np.array(["W"] * 64)})
    assert data.labels is not None
    assert data.labels.names == ["W"]


def test_beads_of_a_topology(tmp_path: Path) -> None:
    path = write(tmp_path / "run.xyz", xyz_of_beads([("X", "", 1)], BEADS))
    data = read(DataFile(path, topology=write(tmp_path / "a.gro", gro_of(LIPID, BEADS))))
    assert data.labels is not None
    assert (data.labels.names, data.labels.meaning) == ([name for name, *_ in LIPID], "types")


# Own texts

GRO = """\
water
    3
    1SOL     OW    1   0.126   1.624   1.679  0.1227 -0.0580  0.0434
    1SOL    HW1    2   0.190   1.661   1.747  0.8085  0.3191 -0.7791
    2CL      CL    3   0.177   1.568   1.613 -0.9045 -2.6469  1.3180
   1.82060   1.82060   1.82060
"""


@pytest.mark.parametrize("end", [b"\n", b"\r"])
def test_pdb(tmp_path: Path, end: bytes) -> None:
    """In any encoding: names of authors are often in Latin-1."""
    content = b"AUTHOR    J\xfcrgen\n" + PDB.encode()
    path = write(tmp_path / "a.pdb", content.replace(b"\n", end))
    data = read(path)
    np.testing.assert_array_equal(data.centers, [[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    np.testing.assert_array_equal(data.radius, [find_element(n).radius for n in ("C", "Ca", "O")])
    assert count_frames(path) == 2 or end == b"\r"
    with pytest.warns(raytracer.RaytracerWarning, match="the first of each is shown"):
        scene = load(path, 0)
    assert scene.describe(0).values["residue"] == "GLY"


# Name, alternate location, residue, number, insertion code and x of each atom.
Site = tuple[str, str, str, int, str, float]
SITES: dict[str, tuple[list[Site], list[float]]] = {
    "other letters in each residue": (
        [("CA", "A", "ALA", 1, "", 0.0), ("CA", "B", "ALA", 1, "", 0.5),
         ("CA", "B", "ALA", 2, "", 4.0), ("CA", "C", "ALA", 2, "", 4.5),
         ("CA", "", "ALA", 3, "", 8.0)],
        [0.0, 4.0, 8.0],
    ),
    "small letters and digits": (
        [("CA", "a", "ALA", 1, "", 0.0), ("CA", "A", "ALA", 1, "", 0.5),
         ("O", "1", "HOH", 2, "", 4.0), ("O", "2", "HOH", 2, "", 4.5)],
        [0.0, 4.0],
    ),
    "with and without a letter": (
        [("N", "", "ALA", 1, "", 0.0), ("CA", "", "ALA", 1, "", 1.0),
         ("CA", "B", "ALA", 1, "", 1.5), ("CB", "B", "ALA", 1, "", 3.0)],
        [0.0, 1.0, 3.0],
    ),
    "inserted residues": (
        [("CA", "A", "SER", 1, "A", 0.0), ("CA", "B", "SER", 1, "A", 0.5),
         ("CA", "A", "SER", 1, "B", 4.0), ("CA", "B", "SER", 1, "B", 4.5)],
        [0.0, 4.0],
    ),
    "two residues in one place": (
        [("CA", "A", "SER", 1, "", 0.0), ("OG", "A", "SER", 1, "", 1.0),
         ("CA", "B", "THR", 1, "", 0.5), ("OG1", "B", "THR", 1, "", 1.5),
         ("CG2", "B", "THR", 1, "", 2.0), ("CA", "", "ALA", 2, "", 8.0)],
        [0.0, 1.0, 8.0],
    ),
}  # fmt: skip
"""Atoms with alternate locations, and x of those to keep."""


def pdb_of(models: list[list[Site]], start: str = "", end: str = "END\n") -> str:
    lines = []
    for number, sites in enumerate(models, 1):
        lines.append(start.format(number))
        lines += [
            f"ATOM  {n:5d}  {name:<3}{letter:1}{residue} A{place:4d}{code:1}   {x:8.3f}{0:8.3f}"
            f"{0:8.3f}{1:6.2f}{0:6.2f}          {name[0]:>2}\n"
            for n, (name, letter, residue, place, code, x) in enumerate(sites, 1)
        ]
        lines.append(end)
    return "".join(lines)


_SITE_COLUMNS = (
    "group_PDB id type_symbol label_atom_id label_alt_id label_comp_id label_asym_id "
    "label_entity_id label_seq_id pdbx_PDB_ins_code Cartn_x Cartn_y Cartn_z occupancy "
    "B_iso_or_equiv auth_seq_id auth_asym_id pdbx_PDB_model_num"
)


def mmcif_of(models: list[list[Site]]) -> str:
    """Waters have no label_seq_id, and chains have other names than those of the authors."""
    rows = [
        f"ATOM {n} {name[0]} {name} {letter or '.'} {residue} A 1 "
        f"{'.' if residue == 'HOH' else place} {code or '?'} {x} 0 0 1 10 {place + 100} H {number}"
        for number, sites in enumerate(models, 1)
        for n, (name, letter, residue, place, code, x) in enumerate(sites, 1)
    ]
    keys = [f"_atom_site.{key}" for key in _SITE_COLUMNS.split()]
    return "\n".join(["data_x", "loop_", *keys, *rows, "#", ""])


@pytest.mark.parametrize("name", ["a.pdb", "a.cif"])
@pytest.mark.parametrize("case", SITES)
def test_alternate_locations(case: str, name: str, tmp_path: Path) -> None:
    """Of each atom the first location is taken, whatever letters other atoms have, as by gemmi."""
    gemmi = pytest.importorskip("gemmi")
    sites, expected = SITES[case]
    path = write(tmp_path / name, (pdb_of if name == "a.pdb" else mmcif_of)([sites]))
    data = read(path)
    assert np.asarray(data.centers)[:, 0].tolist() == expected
    structure = gemmi.read_structure(str(path))
    structure.remove_alternative_conformations()
    assert [site.atom.pos.x for site in structure[0].all()] == expected
    assert [note for _, note in data.notes] == [f"{path}: {FIRST_SHOWN}"]


MODELS: list[list[Site]] = [
    [("CA", "", "ALA", 1, "", 1.0), ("CB", "", "ALA", 1, "", 2.0)],
    [("CA", "", "ALA", 1, "", 3.0), ("CB", "", "ALA", 1, "", 4.0), ("O", "", "ALA", 1, "", 5.0)],
    [("CA", "", "ALA", 1, "", 6.0), ("CB", "", "ALA", 1, "", 7.0)],
]  # fmt: skip
CRYST1 = "CRYST1   {0}0.000   {0}1.000   {0}2.000  90.00  90.00  90.00 P 1           1\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("end.pdb", pdb_of(MODELS)),
        ("padded.pdb", pdb_of(MODELS, end="END" + " " * 77 + "\r\n")),
        ("no_last_end.pdb", pdb_of(MODELS).removesuffix("END\n")),
        ("endmdl.pdb", pdb_of(MODELS, end="ENDMDL\n") + "END\n"),
        ("model.pdb", pdb_of(MODELS, "MODEL     {:4d}\n", "ENDMDL\n") + "MASTER\nEND\n"),
        ("no_endmdl.pdb", pdb_of(MODELS, "MODEL     {:4d}\n", "TER\n") + "END\n"),
        ("both.pdb", pdb_of(MODELS, "MODEL     {:4d}\n", "ENDMDL\nEND\n")),
        ("empty.pdb", "MODEL 1\nENDMDL\n" + pdb_of(MODELS, end="ENDMDL\n")),
        ("cells.pdb", pdb_of(MODELS, "REMARK\n" + CRYST1, "TER\nENDMDL\n")),
        ("m.cif", mmcif_of(MODELS)),
    ],
)
def test_models_are_frames(name: str, text: str, tmp_path: Path) -> None:
    pytest.importorskip("gemmi")
    path = write(tmp_path / name, text)
    assert count_frames(path) == 3
    frames = open_frames(InputSource.of(path))
    for number, sites in enumerate(MODELS):
        expected = [x for *_, x in sites]
        for scene in (load(path, number), load(path, number - 3), frames.load(number)):
            assert scene.spheres[0].centers[:, 0].tolist() == expected
        box = read(DataFile(path, frame=number)).box
        assert box is None or box.edges[0][0] == 10.0 * (number + 1)
    with pytest.warns(raytracer.RaytracerWarning, match="has 3 frames; the first is shown"):
        assert load(path).spheres[0].centers[:, 0].tolist() == [1.0, 2.0]


def test_records_before_models_belong_to_all(tmp_path: Path) -> None:
    """As VMD writes trajectories: the cell once, and END after each frame."""
    path = write(tmp_path / "a.pdb", CRYST1.format(1) + pdb_of(MODELS))
    for number in range(3):
        box = read(DataFile(path, frame=number)).box
        assert box is not None
        assert box.edges[2][2] == 12.0


STRETCHES = (
    helix_record("A", 2, 3) + sheet_record("A", 5, 6) + sheet_record("B", 1, 6)
    + sheet_record("B", 2, 3) + helix_record("C", 1, 9) + "HELIX    x\n"
)  # fmt: skip
STATED = "coil helix helix coil strand strand coil strand strand strand strand strand strand coil"


def test_structure_of_pdb(tmp_path: Path) -> None:
    """By chains and residues; ranges may overlap, and damaged records are skipped."""
    chain = peptide([(-120.0, 130.0)] * 7)
    columns = load(write(tmp_path / "a.pdb", pdb([chain, chain], STRETCHES))).columns
    assert columns["structure"][::4].tolist() == STATED.split()
    plain = load(write(tmp_path / "b.pdb", pdb([chain])))
    assert "structure" not in plain.columns


def test_structure_of_mmcif(tmp_path: Path) -> None:
    gemmi = pytest.importorskip("gemmi")
    chain = peptide([(-120.0, 130.0)] * 7)
    structure = gemmi.read_pdb_string(pdb([chain, chain], STRETCHES.replace("HELIX    x\n", "")))
    structure.setup_entities()
    path = tmp_path / "a.cif"
    structure.make_mmcif_document().write_file(str(path))
    columns = load(path).columns
    assert columns["structure"][::4].tolist() == STATED.split()
    types = path.read_text().replace("HELX_P", "STRN")  # of AlphaFold and DSSP
    assert set(load(write(tmp_path / "b.cif", types)).columns["structure"]) == {"coil", "strand"}


def test_a_reader_of_its_own_imports_nothing_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The data of others may lie there."""
    pytest.importorskip("chemfiles")
    write(tmp_path / "numpy.py", "raise ImportError('of the current folder')\n")
    atoms = "1 O 0 0 0 O.3 1 RES 0.0\n2 H 0.9 0 0 H 1 RES 0.0\n"
    head = "@<TRIPOS>MOLECULE\nx\n2 0 0 0 0\nSMALL\nUSER_CHARGES\n\n@<TRIPOS>ATOM\n"
    write(tmp_path / "a.mol2", head + atoms + "@<TRIPOS>BOND\n")
    monkeypatch.chdir(tmp_path)
    assert load(tmp_path / "a.mol2").count == 2


def test_gro(tmp_path: Path) -> None:
    path = write(tmp_path / "a.gro", GRO)
    data = read(path)
    np.testing.assert_allclose(data.centers[0], [1.26, 16.24, 16.79], rtol=1e-15)
    np.testing.assert_array_equal(data.radius, [find_element(n).radius for n in ("O", "H", "Cl")])
    found = load(path).describe(2).values
    assert found["velocity"] == (-0.9045, -2.6469, 1.318)
    twice = write(tmp_path / "b.gro", GRO + GRO)
    assert "more frames follow" in read(twice).notes[-1][1]
    fine = "t\n1\n" + "    1SOL     OW    1   0.1260001   1.6240002   1.6790003\n 1 1 1\n"
    fine_centers = read(write(tmp_path / "c.gro", fine)).centers
    np.testing.assert_allclose(fine_centers, [[1.260001, 16.240002, 16.790003]], rtol=1e-14)


def test_a_triclinic_box_of_gro(tmp_path: Path) -> None:
    """Nine numbers: a_x b_y c_z, a_y a_z, b_x b_z, c_x c_y (GROMACS, "gro file format")."""
    atom = "    1SOL     OW    1   0.126   1.624   1.679\n"
    path = write(tmp_path / "a.gro", f"t\n1\n{atom}   3 4 5  0.1 0.2  0.3 0.4  0.5 0.6\n")
    with open_source(path) as source:
        assert source.box is not None
        edges = [[3.0, 0.1, 0.2], [0.3, 4.0, 0.4], [0.5, 0.6, 5.0]]
        np.testing.assert_allclose(source.box.edges, 10.0 * np.array(edges), rtol=1e-14)
    short = write(tmp_path / "b.gro", f"t\n1\n{atom}   3 4 5\n")
    with open_source(short) as source:
        assert source.box == Box((0, 0, 0), ((30, 0, 0), (0, 40, 0), (0, 0, 50)))


@pytest.mark.filterwarnings("ignore:.*types are taken as the elements")
def test_lammps_data(tmp_path: Path) -> None:
    path = write(tmp_path / "a.data", LAMMPS_DATA)
    data = read(path)
    np.testing.assert_array_equal(data.centers, [[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    np.testing.assert_array_equal(data.radius, [find_element(n).radius for n in ("H", "O", "H")])
    with open_source(path) as source:
        assert source.bonds is not None
        np.testing.assert_array_equal(source.bonds, [[1, 2], [1, 0]])
        assert source.box == Box((-1, 0, 0), ((10, 0, 0), (1, 5, 0), (0.5, 0, 5)))
    assert load(path).describe(1).values["q"] == -0.8
    for name in ("data.water", "water"):
        assert load(write(tmp_path / name, LAMMPS_DATA)).count == 3


@pytest.mark.parametrize(
    ("row", "columns"),
    [
        ("1 1 1 2 3", "atomic"),
        ("1 1 1 2 3 0 0 -1", "atomic"),
        ("1 1 0.5 1 2 3", "charge"),
        ("1 4 1 1 2 3", "molecular"),
        ("1 4 1 0.5 1 2 3", "full"),
        ("1 1 0.5 2.5 1 2 3", "sphere"),
        ("1 1 0.5 1 2 3 0 0 0", "charge"),
    ],
)
@pytest.mark.parametrize("hint", ["", "# {}", "# I like comments"])
def test_styles_of_atoms(tmp_path: Path, row: str, columns: str, hint: str) -> None:
    text = f"title\n1 atoms\n\nAtoms {hint.format(columns)}\n\n{row}\n"
    data = read(write(tmp_path / "a.lmp", text))
    np.testing.assert_array_equal(data.centers, [[1, 2, 3]])
    if columns == "sphere":
        np.testing.assert_array_equal(data.radius, [0.25])


def test_ellipsoids_of_a_data_file_are_said_to_be_spheres(tmp_path: Path) -> None:
    text = "title\n1 atoms\n1 ellipsoids\n\nAtoms # ellipsoid\n\n1 1 1 1 1 2 3\n\nEllipsoids\n\n"
    data = read(write(tmp_path / "a.data", text + "1 3 1 1 1 0 0 0\n"))
    assert [note for _, note in data.notes] == [
        f"{tmp_path / 'a.data'}: the section Ellipsoids is not used: its particles are drawn as "
        "spheres"
    ]


@pytest.mark.parametrize("odd", ["inf", "nan", "-inf"])
def test_a_cell_that_is_not_finite(tmp_path: Path, odd: str) -> None:
    line = f"CRYST1{30:9.3f}{30:9.3f}{30:9.3f}{90:7.2f}{odd:>7}{90:7.2f} P 1           1"
    path = write(tmp_path / "a.pdb", f"{line}\n{PDB.partition(chr(10))[2]}")
    data = read(path)
    assert (data.box, len(data.centers)) == (None, 3)


@pytest.mark.parametrize(
    ("name", "residue", "element"),
    [("CA", "GLY", "C"), ("CA", "CA", "Ca"), ("HB2", "ALA", "H"), ("1HB", "ALA", "H"),
     ("OW", "SOL", "O"), ("CL", "CL", "Cl"), ("NA+", "NA+", "Na"), ("SOD", "SOD", "Na"),
     ("ZN", "ZN2+", "Zn"), ("MW", "SOL", "MW"), ("FE", "HEM", "Fe"), ("Cu", "MOL", "Cu"),
     ("", "", "")],
)  # fmt: skip
def test_elements_by_names(name: str, residue: str, element: str) -> None:
    assert guess_element(name, residue) == element


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.pdb", PDB.replace("1.000   2.000", "1.000   2.x00"), "line 3, column 'y': '2.x00' is"),
        ("a.pdb", "CRYST1   10.000   11.000", "there are no atoms"),
        ("a.gro", GRO.replace("    3\n", "    9\n"), "line 2 states 9 atoms, but there are fewer"),
        ("a.gro", GRO.replace("1.661", "1.6.1"), "line 4, column 'y': '1.6.1' is not"),
        ("a.data", LAMMPS_DATA.replace("3 atoms", "4 atoms"), "line 23: too few columns"),
        ("a.data", LAMMPS_DATA.replace("# full", "# fulll"), "no atom style 'fulll'; did you mean"),
        ("a.xtc", "no trajectory", "cannot be read as XTC"),
        ("a.gsd", "no trajectory", "cannot be read as GSD"),
        ("a.cif", "data_a\nloop_\n_x\n'1\n", "cannot be read as CIF"),
        # whose pattern would otherwise try every way to part the digits
        ("POSCAR", "a\n" + "1" * 400 + "\n" + ("1" * 1000 + "\n") * 3, ""),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, name: str, text: str, said: str) -> None:
    for library, suffix in (("gsd", ".gsd"), ("gemmi", ".cif"), ("chemfiles", ".xtc")):
        if name.endswith(suffix):
            pytest.importorskip(library)
    found = complaint(write(tmp_path / name, text))
    assert found.startswith(str(tmp_path / name))
    assert said in found


PQR = """\
REMARK made by hand
ATOM      1  N   ALA A   1       1.000   2.000  -3.000 -0.3000 1.8240
ATOM      2  CA  ALA A   1       4.000   5.000   6.000  0.0213 1.9080
"""


def test_pqr(tmp_path: Path) -> None:
    pytest.importorskip("MDAnalysis")
    data = read(write(tmp_path / "a.pqr", PQR))
    np.testing.assert_array_equal(data.centers, [[1, 2, -3], [4, 5, 6]])
    assert data.radius is not None
    np.testing.assert_allclose(data.radius, [1.824, 1.908], rtol=1e-7)
    assert data.labels is not None
    assert data.labels.names == ["N", "C"]
    zero = read(write(tmp_path / "b.pqr", PQR.replace("1.8240", "0.0000")))
    np.testing.assert_array_equal(zero.radius, [find_element(name).radius for name in ("N", "C")])


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.gro", PDB), ("a.data", PDB), ("a.csv", PDB), ("a.vasp", PDB), ("a.traj", PDB)],
)
def test_content_decides_where_an_ending_lies(tmp_path: Path, name: str, text: str) -> None:
    assert len(read(write(tmp_path / name, text)).centers) == 3


PDB_ROW = (
    "ATOM  {0:5d}  CA  {1:<3} A{2:>4}    {0:8.3f}   0.000   0.000  1.00 {0:5.2f}           C  "
)
GRO_ROW = "{2:>5}{1:<5}   CA{0:5d}{0:8.3f}   0.000   0.000"


@pytest.mark.parametrize("ending", ["pdb", "gro"])
def test_atoms_are_selected_by_residues(ending: str, tmp_path: Path) -> None:
    rows = [(1, "GLY", "5"), (2, "HOH", "5"), (3, "ALA", "7"), (4, "GLY", "9")]
    row = PDB_ROW if ending == "pdb" else GRO_ROW
    lines = [row.format(*each) for each in rows]
    if ending == "gro":
        lines = ["title", "4", *lines, "9 9 9"]
    path = write(tmp_path / f"a.{ending}", "\n".join([*lines, ""]))
    scene = load(path)
    assert scene.columns["resid"].tolist() == [5, 5, 7, 9]
    if ending == "pdb":
        assert scene.columns["beta"].tolist() == [1, 2, 3, 4]
    chosen = scene.styled(select="5 <= resid <= 7 and resname != 'HOH' and name == 'CA'")
    assert chosen.columns["index"].tolist() == [0, 2]


@pytest.mark.parametrize("symbols", [None, "????", "?C?.", ".C.."])
def test_elements_that_mmcif_lacks(symbols: str | None, tmp_path: Path) -> None:
    """By the names of atoms and residues, as of PDB files."""
    pytest.importorskip("gemmi")
    atoms = [("CA", "CA"), ("CA", "ALA"), ("HG", "HG"), ("OXT", "ALA")]
    keys = ["id", "label_atom_id", "label_comp_id", "Cartn_x", "Cartn_y", "Cartn_z"]
    rows = [f"{n} {name} {residue} {4 * n} 0 0" for n, (name, residue) in enumerate(atoms)]
    if symbols is not None:
        keys.append("type_symbol")
        rows = [f"{row} {symbol}" for row, symbol in zip(rows, symbols, strict=True)]
    lines = ["data_x", "loop_", *(f"_atom_site.{key}" for key in keys), *rows, "#", ""]
    with open_source(write(tmp_path / "a.cif", "\n".join(lines))) as source:
        assert source.load(["element"])["element"].tolist() == [b"Ca", b"C", b"Hg", b"O"]


def test_a_vtf_line_names_atoms_by_numbers_and_ranges(tmp_path: Path) -> None:
    """`0,2:3` are atoms 0, 2 and 3, both ends of the range among them; the default is of others."""
    rows = "".join(f"{k} 0 0\n" for k in range(6))
    text = f"atom default radius 0.25 name C\natom 0,2:3 radius 1.5 name O\ntimestep\n{rows}"
    scene = load(write(tmp_path / "a.vtf", text))
    np.testing.assert_array_equal(scene.spheres[0].radius, [1.5, 0.25, 1.5, 1.5, 0.25, 0.25])
    names = [scene.describe(k).values["name"] for k in range(6)]
    assert names == ["O", "C", "O", "O", "C", "C"]


def test_every_vector_of_hoomd_xml_has_its_components(tmp_path: Path) -> None:
    """Two particles: each kind of element has three, four or one value for each."""
    sizes = {"position": 3, "velocity": 3, "acceleration": 3, "image": 3, "orientation": 4,
             "diameter": 1, "mass": 1, "charge": 1, "body": 1}  # fmt: skip
    values = {
        name: np.arange(2.0 * size).reshape(2, size) + 10 * (place + 1)
        for place, (name, size) in enumerate(sizes.items())
    }
    inner = "".join(f"<{k}>{' '.join(map(str, v.ravel()))}</{k}>" for k, v in values.items())
    text = f"<hoomd_xml><configuration time_step='0'>{inner}</configuration></hoomd_xml>"
    with open_source(write(tmp_path / "a.xml", text)) as source:
        columns = source.load(list(values))
    for name, expected in values.items():
        np.testing.assert_array_equal(columns[name], expected.squeeze(), err_msg=name)
