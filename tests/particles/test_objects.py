"""Objects of other packages: arrays, boxes, bonds and elements are those of the object."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer import RaytracerWarning, Scene, animate
from raytracer.config.errors import DataFileError, SceneError, UserError
from raytracer.model.elements import find_element
from raytracer.particles.objects.registry import KINDS, open_object, read_object
from raytracer.particles.read import open_source

RNG = np.random.default_rng(41)
SYMBOLS = ["O", "H", "H", "Cu"]
POINTS = RNG.normal(size=(4, 3))
SPEEDS = np.arange(4.0)
RADII = [find_element(name).radius for name in SYMBOLS]
EDGES = np.array([[10, 0, 0], [5.5, 11 * np.sqrt(0.75), 0], [0, 0, 12]])


def columns_of(value: Any) -> dict[str, Any]:
    source = open_object(value)
    return source.load(list(source.columns))


def require_box(value: Any, edges: Any, origin: Any = (0.0, 0.0, 0.0)) -> None:
    box = open_object(value).box
    assert box is not None
    np.testing.assert_allclose(box.edges, edges, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(box.origin, origin, rtol=1e-6)


def test_ase() -> None:
    ase = pytest.importorskip("ase")
    atoms = ase.Atoms(SYMBOLS, POINTS, cell=EDGES, pbc=True)
    atoms.set_array("speed", SPEEDS)
    atoms.set_momenta(POINTS)
    np.testing.assert_array_equal(columns_of(atoms)["velocity"], atoms.get_velocities())
    data = read_object(atoms)
    assert np.shares_memory(data.centers, atoms.positions)
    np.testing.assert_array_equal(data.radius, RADII)
    np.testing.assert_array_equal(columns_of(atoms)["speed"], SPEEDS)
    require_box(atoms, EDGES)
    assert open_object(ase.Atoms(SYMBOLS, POINTS)).box is None
    atoms.set_array("type", atoms.numbers)  # of LAMMPS, not of the periodic table
    labels = read_object(atoms).labels
    assert labels is not None
    assert (labels.meaning, labels.names) == ("types", ["8", "1", "29"])


def test_chemfiles() -> None:
    library = pytest.importorskip("chemfiles")
    frame = library.Frame()
    for symbol, point in zip(SYMBOLS, POINTS.tolist(), strict=True):
        frame.add_atom(library.Atom(symbol), point)
    frame.add_bond(0, 1, library.BondOrder.Double)
    frame.cell = library.UnitCell([10.0, 11.0, 12.0])
    data = read_object(frame)
    np.testing.assert_array_equal(data.centers, POINTS)
    np.testing.assert_array_equal(data.radius, RADII)
    require_box(frame, np.diag([10.0, 11.0, 12.0]))
    source = open_object(frame)
    assert source.bonds is not None
    assert source.bonds.tolist() == [[0, 1]]
    assert source.bond_columns["order"].tolist() == [2.0]


@pytest.mark.filterwarnings("ignore")  # of chemfiles, which also warns
@pytest.mark.parametrize("number", [None, 7])
def test_residues_of_chemfiles_with_and_without_numbers(number: int | None) -> None:
    """Those of TNG have none."""
    library = pytest.importorskip("chemfiles")
    frame = library.Frame()
    frame.add_atom(library.Atom("O"), [0.0, 1.0, 2.0])
    residue = library.Residue("SOL") if number is None else library.Residue("SOL", number)
    residue.atoms.append(0)
    frame.add_residue(residue)
    columns = open_object(frame).columns
    assert "residue" in columns
    assert ("residue_id" in columns) == (number is not None)


def test_mdanalysis() -> None:
    library = pytest.importorskip("MDAnalysis")
    universe = library.Universe.empty(4, 1, atom_resindex=[0] * 4, trajectory=True)
    universe.add_TopologyAttr("name", SYMBOLS)
    universe.add_TopologyAttr("mass", SPEEDS)
    universe.add_TopologyAttr("bonds", [(0, 1), (2, 3)])
    universe.atoms.positions = POINTS
    universe.dimensions = [10, 11, 12, 90, 90, 60]
    single = POINTS.astype(np.float32)
    data = read_object(universe)
    np.testing.assert_array_equal(data.centers, single)
    np.testing.assert_array_equal(data.radius, RADII)
    np.testing.assert_array_equal(columns_of(universe)["mass"], SPEEDS)
    require_box(universe, EDGES)
    group = universe.atoms[[3, 2, 0]]
    np.testing.assert_array_equal(read_object(group).centers, single[[3, 2, 0]])
    np.testing.assert_array_equal(open_object(group).bonds, [[1, 0]])


def test_rdkit() -> None:
    chem = pytest.importorskip("rdkit.Chem")
    points = np.array([[0, 0, 0], [1.2, 0, 0], [-1.1, 0.9, 0], [-1.5, -1.2, 0]])
    molecule = chem.MolFromSmiles("O=CN.[Na+]")  # read without hydrogens
    with pytest.raises(DataFileError, match="has no coordinates: make some, for example with"):
        raytracer.Scene.from_object(molecule)
    conformer = chem.Conformer(4)
    for atom, point in enumerate(points):
        conformer.SetAtomPosition(atom, point.tolist())
    molecule.AddConformer(conformer)
    data = read_object(molecule)
    np.testing.assert_array_equal(data.centers, points)
    np.testing.assert_array_equal(
        data.radius, [find_element(name).radius for name in ["O", "C", "N", "Na"]]
    )
    np.testing.assert_array_equal(columns_of(molecule)["charge"], [0, 0, 0, 1])
    source = open_object(molecule)
    np.testing.assert_array_equal(source.bonds, [[0, 1], [1, 2]])
    np.testing.assert_array_equal(source.bond_columns["order"], [2, 1])
    # two sticks for the double bond
    scene = raytracer.Scene.from_object(molecule).styled(style="ball-and-stick")
    assert sum(each.count for each in scene.capsules) == 3
    assert open_object(chem.RWMol(molecule)).count == 4


def test_rdkit_residues() -> None:
    chem = pytest.importorskip("rdkit.Chem")
    lines = [
        "ATOM      1  N   GLY A   7       0.000   0.000   0.000  1.00 12.50           N",
        "ATOM      2  CA  GLY A   7       1.450   0.000   0.000  1.00 13.50           C",
    ]
    columns = columns_of(chem.MolFromPDBBlock("\n".join(lines)))
    assert columns["name"].tolist() == [b"N", b"CA"]
    assert columns["residue"].tolist() == [b"GLY"] * 2
    assert columns["residue_id"].tolist() == [7, 7]
    assert columns["b_factor"].tolist() == [12.5, 13.5]


def test_gsd() -> None:
    hoomd = pytest.importorskip("gsd.hoomd")
    frame = hoomd.Frame()
    frame.particles.N, frame.particles.position = 4, POINTS.astype(np.float32)
    frame.particles.types, frame.particles.typeid = ["O", "H"], [0, 1, 1, 0]
    frame.particles.diameter = [1.0, 2.0, 2.0, 1.0]
    frame.configuration.box = [10, 20, 30, 0.1, 0, 0]
    frame.bonds.group = [[0, 1]]
    data = read_object(frame)
    np.testing.assert_array_equal(data.centers, POINTS.astype(np.float32))
    np.testing.assert_array_equal(data.radius, [0.5, 1.0, 1.0, 0.5])
    assert data.labels is not None
    assert data.labels.names == ["O", "H"]
    require_box(frame, [[10, 0, 0], [2, 20, 0], [0, 0, 30]], [-6, -10, -15])
    np.testing.assert_array_equal(open_object(frame).bonds, [[0, 1]])
    frame.particles.diameter = np.ones(4)  # what gsd gives for a file without diameters
    assert "diameter" not in columns_of(frame)
    frame.particles.typeid = [0, 1, 2, 0]
    with pytest.raises(DataFileError, match=r"gsd.Frame: a particle has a type without a name"):
        read_object(frame)


def tables() -> dict[str, Any]:
    axes: dict[str, Any] = {f"p{axis}": POINTS[:, place] for place, axis in enumerate("xyz")}
    return axes | {"element": SYMBOLS, "speed": SPEEDS, "id": np.arange(4), "odd": [None] * 4}


@pytest.mark.parametrize(
    ("package", "make"),
    [("pandas", "DataFrame"), ("polars", "DataFrame"), ("polars", "LazyFrame"),
     ("pyarrow", "table"), ("pyarrow", "record_batch")],
)  # fmt: skip
def test_tables(package: str, make: str) -> None:
    table = getattr(pytest.importorskip(package), make)(tables())
    data = read_object(table)
    np.testing.assert_array_equal(data.centers, POINTS)
    np.testing.assert_array_equal(data.radius, RADII)
    columns = columns_of(table)
    np.testing.assert_array_equal(columns["speed"], SPEEDS)
    np.testing.assert_array_equal(columns["id"], np.arange(4))
    assert columns["element"].tolist() == [name.encode() for name in SYMBOLS]
    assert "odd" not in columns


def test_pandas_with_gaps() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(tables(), index=list("aabb"))
    frame["count"] = pandas.array([1, None, 3, 4], dtype="Int64")
    frame["group"] = pandas.Categorical(["in", None, "in", "out"])
    frame[7] = frame["speed"]
    columns = columns_of(frame)
    np.testing.assert_array_equal(columns["count"], [1, np.nan, 3, 4])
    assert columns["group"].tolist() == [b"in", b"", b"in", b"out"]
    np.testing.assert_array_equal(columns["7"], SPEEDS)


def test_pyvista() -> None:
    pyvista = pytest.importorskip("pyvista")
    cloud = pyvista.PolyData(POINTS)
    cloud["speed"] = SPEEDS
    for value in (cloud, cloud.cast_to_unstructured_grid(), pyvista.MultiBlock([cloud, cloud])):
        repeats = 2 if isinstance(value, pyvista.MultiBlock) else 1
        np.testing.assert_allclose(read_object(value).centers, np.tile(POINTS, (repeats, 1)))
        np.testing.assert_array_equal(columns_of(value)["speed"], np.tile(SPEEDS, repeats))


class _Table(dict[str, Any]):
    """Stands for containers of OVITO: keys, and attributes."""

    count = 4
    bonds: Any = None


@pytest.mark.parametrize("named", [True, False])
def test_ovito(named: bool) -> None:
    """A stand-in, as OVITO is too large for the tests; tests/particles/corpus has it."""

    class Kind:
        def __init__(self, number: int) -> None:
            self.id, self.name = number, {1: "O", 2: "H"}[number] if named else ""

    class Types(np.ndarray[Any, Any]):
        types = (Kind(1), Kind(2))

    class Bonds:
        topology = np.array([[0, 1]])

    class DataCollection:
        __module__ = "ovito.data"
        cell = np.column_stack([EDGES.T, [1.0, 2.0, 3.0]])
        particles = _Table({"Position": POINTS, "Speed": SPEEDS, "Radius": SPEEDS + 1.0})

    class Pipeline:
        __module__ = "ovito.pipeline"

        def compute(self) -> Any:
            return DataCollection()

    DataCollection.particles["Particle Type"] = np.array([1, 2, 2, 1]).view(Types)
    DataCollection.particles.bonds = Bonds()
    for value in (DataCollection(), Pipeline()):
        data = read_object(value)
        np.testing.assert_array_equal(data.centers, POINTS)
        np.testing.assert_array_equal(data.radius, SPEEDS + 1.0)
        assert data.labels is not None
        assert data.labels.names == (["O", "H"] if named else ["1", "2"])
        require_box(value, EDGES, [1, 2, 3])
        np.testing.assert_array_equal(open_object(value).bonds, [[0, 1]])


def test_a_pipeline_of_ovito_computes_the_frame_that_is_asked_for() -> None:
    class DataCollection:
        cell = None

        def __init__(self, frame: int) -> None:
            self.particles = _Table({"Position": POINTS + frame})
            self.particles.bonds = None

    class Pipeline:
        __module__ = "ovito.pipeline"
        num_frames = 3

        def compute(self, frame: int = 0) -> Any:
            return DataCollection(frame)

    for frame, shift in ((None, 0), (0, 0), (2, 2), (-1, 2)):
        centers = read_object(Pipeline(), frame=frame).centers
        np.testing.assert_array_equal(centers, POINTS + shift)


def test_arrays() -> None:
    assert np.shares_memory(read_object(POINTS).centers, POINTS)
    np.testing.assert_array_equal(read_object(POINTS.tolist()).centers, POINTS)
    four = read_object(np.column_stack([POINTS, SPEEDS + 1.0]))
    np.testing.assert_array_equal(four.radius, SPEEDS + 1.0)
    frames = read_object(np.stack([POINTS, POINTS + 1.0]))
    np.testing.assert_array_equal(frames.centers, POINTS)
    assert [note for _, note in frames.notes] == [
        "array: has 2 frames; the first is shown: for another one give frame=NUMBER"
    ]
    records = np.zeros(4, [("pos", ">f4", 3), ("radius", "f4"), ("species", "U2")])
    records["pos"], records["radius"], records["species"] = POINTS, 2.0, SYMBOLS
    data = read_object(records)
    np.testing.assert_array_equal(data.centers, POINTS.astype(np.float32))
    np.testing.assert_array_equal(data.radius, 2.0)
    assert data.labels is not None
    table = {"x": POINTS[:, 0], "y": POINTS[:, 1], "z": POINTS[:, 2], "type": [1, 2, 2, 1], "n": 4}
    table["color"] = ["red", "#00ff00", "red", "blue"]
    data = read_object(table)
    assert data.color is not None
    assert data.color[data.color_id].tolist() == [[1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 0, 1]]
    np.testing.assert_array_equal(data.centers, POINTS)
    assert data.labels is not None
    assert data.labels.meaning == "types"


def test_one_radius_and_color_of_a_dictionary() -> None:
    scene = raytracer.Scene.from_object({"position": POINTS, "radius": 0.5, "color": "red"})
    np.testing.assert_array_equal(scene.spheres[0].radius, 0.5)
    np.testing.assert_array_equal(scene.spheres[0].color, [[1, 0, 0]])


def test_pictures_of_objects() -> None:
    """Render and scene say the same of an object as of its arrays."""
    colors = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]], np.float32)
    table = {"position": POINTS, "radius": SPEEDS + 1.0, "color": colors}
    size: Any = {"width": 24, "height": 16, "samples": 1, "backend": "cpu", "background": "white"}
    camera = raytracer.Camera(up="z", elevation=35.0, vertical_fov=30.0)
    arrays = raytracer.Scene.from_arrays(POINTS, SPEEDS + 1.0, colors, camera=camera)
    expected = raytracer.render(arrays, look="soft", ao_samples=4, brightness="auto", **size)
    np.testing.assert_array_equal(raytracer.render(table, **size).array, expected.array)
    scene = raytracer.Scene.from_object(
        table | {"size": np.full(4, 0.5)}, color="red", arrays={"diameters": "size"}, title="four"
    )
    assert (scene.title, scene.render.look) == ("four", "soft")
    np.testing.assert_array_equal(scene.spheres[0].radius, 0.25)
    np.testing.assert_array_equal(scene.spheres[0].color, [[1, 0, 0]])


@pytest.mark.parametrize(
    ("value", "said"),
    [(None, "scene: is None"), (3, "scene: int is not a scene: give a raytracer.Scene, a path"),
     (np.zeros((2, 5)), r"array: has shape \(2, 5\) and type float64; centres are"),
     ([[1, 2, 3], [1]], "array: array 'centers': the rows differ in length"),
     ({"x": [1.0]}, r"dictionary: there are no fields x, y and z"),
     ({"x": [1.0], "y": [1.0], "z": [np.nan]}, r"dictionary: array .*: sphere 0 lies at"),
     ({"radius": [1.0, 2.0], "position": POINTS}, "array 'radius': has 2 values for 4 particles")],
)  # fmt: skip
def test_what_is_no_scene(value: Any, said: str) -> None:
    with pytest.raises((SceneError, DataFileError), match=said):
        raytracer.render(value, width=8, height=8, samples=1)


@pytest.mark.parametrize(
    ("options", "said"),
    [({"arrays": {"radios": "a"}}, "arrays: there is no field 'radios'; did you mean 'radii'"),
     ({"arrays": {"radii": 3}}, r"arrays.radii: 3 is not text"),
     ({"arrays": {"radii": "size"}}, "there is no field named 'size'"),
     ({"labels": "names"}, "labels: 'names' is neither 'elements' nor 'types'"),
     ({"radius": -1.0}, "radius.*-1")],
)  # fmt: skip
def test_odd_options_of_objects(options: Any, said: str) -> None:
    with pytest.raises((SceneError, DataFileError), match=said):
        raytracer.Scene.from_object({"centers": POINTS, "mass": SPEEDS}, **options)


def test_no_package_is_imported() -> None:
    """An object is recognised by its class alone."""
    code = (
        "import sys, numpy; from raytracer import Scene; Scene.from_object(numpy.eye(3));"
        f"print([name for name in {list(KINDS)} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path("/")
    )
    assert done.stdout == "[]\n"


@pytest.mark.filterwarnings("ignore")
def test_objects_with_several_frames() -> None:
    hoomd = pytest.importorskip("gsd.hoomd")
    frames = []
    for number in range(3):
        frame = hoomd.Frame()
        frame.particles.N, frame.particles.position = 2, [[number, 0, 0], [9, 0, 0]]
        frames.append(frame)

    def first(value: Any, frame: int | None = None) -> float:
        return float(Scene.from_object(value, frame=frame).spheres[0].centers[0, 0])

    with pytest.warns(RaytracerWarning, match="list of 3 frames: the first is shown"):
        assert first(frames) == 0.0
    assert [first(tuple(frames), number) for number in (1, -1)] == [1.0, 2.0]
    points = np.arange(3)[:, None, None] + np.zeros((3, 4, 3))
    assert first(points, -1) == 2.0
    with pytest.raises(UserError, match=r"list of 3 frames: there is no frame 5: it has 3 frame"):
        first(frames, 5)
    with pytest.raises(UserError, match=r"gsd.Frame: there is no frame 1: it has 1 frame"):
        first(frames[0], 1)
    assert len(animate(frames, fps=1)) == 3


@pytest.mark.filterwarnings("ignore")
def test_trajectories_of_packages(tmp_path: Path) -> None:
    hoomd = pytest.importorskip("gsd.hoomd")
    frame = hoomd.Frame()
    with hoomd.open(str(tmp_path / "a.gsd"), "w") as file:
        for number in range(3):
            frame.particles.N, frame.particles.position = 2, [[number, 0, 0], [9, 0, 0]]
            frame.configuration.step = 10 * number
            file.append(frame)
    with hoomd.open(str(tmp_path / "a.gsd"), "r") as file:
        scene = Scene.from_object(file, frame=-1)
        assert scene.spheres[0].centers[0, 0] == 2.0
        assert scene.spheres[0].time == (20.0, "steps")
        assert len(animate(file, fps=1)) == 3


def test_missing_values_and_units_of_fits(tmp_path: Path) -> None:
    fits = pytest.importorskip("astropy.io.fits")
    columns = [fits.Column(axis, "D", array=np.arange(4.0) + i, unit="kpc")
               for i, axis in enumerate("xyz")]  # fmt: skip
    columns.append(fits.Column("T", "J", null=-99, array=np.array([1, -99, 3, 4])))
    fits.BinTableHDU.from_columns(columns).writeto(tmp_path / "a.fits")
    with open_source(tmp_path / "a.fits") as source:
        assert source.columns["x"].unit == "kpc"
        np.testing.assert_array_equal(source.load(["T"])["T"], [1, np.nan, 3, 4])
