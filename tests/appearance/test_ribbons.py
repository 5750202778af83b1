"""Ribbons: where they are beside the atoms, closed and without flips, structure and colours."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import raytracer
from raytracer.appearance.glyphs import backbone
from raytracer.appearance.glyphs.backbone import find_backbone
from raytracer.appearance.glyphs.ribbon_surface import (
    COIL,
    HEAD,
    HELIX,
    SECTIONS,
    STRAND,
    RibbonSurface,
    evaluate_spline,
    find_spline_controls,
    make_ribbon_surface,
)
from raytracer.config.inferred import InferredDefaults, infer_defaults
from raytracer.rendering.overrides import SceneOverrides
from raytracer.rendering.pipeline import load_with_overrides
from raytracer.scene_files.source import InputSource
from reference.scene import Array
from support import molecules
from support.glyphs import mesh_of, shown
from support.molecules import face_normals, helix_record, is_closed, pdb, peptide, sheet_record

MIXED = (
    [molecules.HELIX] * 14 + [(-80.0, 80.0), (60.0, 30.0), (-90.0, 0.0), (-70.0, 120.0)]
    + [molecules.STRAND] * 8 + [(55.0, 38.0), (-100.0, 0.0), (-80.0, 140.0)]
    + [molecules.STRAND] * 8
)  # fmt: skip
STRUCTURE = np.array([HELIX] * 14 + [COIL] * 4 + [STRAND] * 8 + [COIL] * 3 + [STRAND] * 8)


def surface(atoms: Array, structure: Any, **detail: Any) -> RibbonSurface:
    """Return the ribbon of a peptide, with its carbonyls as the sides of strands."""
    guides = atoms[:, 1]
    bend = np.zeros_like(guides)
    bend[1:-1] = 2.0 * guides[1:-1] - guides[:-2] - guides[2:]
    bend[0], bend[-1] = bend[1], bend[-2]
    sides = np.where(
        (structure == HELIX)[:, None],
        np.cross(np.gradient(guides, axis=0), bend),
        atoms[:, 3] - atoms[:, 2],
    )
    return make_ribbon_surface(guides, sides, structure, **detail)


def middles(made: RibbonSurface, at: float, width: float = 0.51) -> Array:
    """Return the mean of the vertices of the triangles around a place along the chain."""
    near = np.unique(made.triangles[np.abs(made.places - at) < width / 12.0])
    return np.asarray(made.vertices[near].mean(axis=0))


# The curve


def test_spline_is_that_of_scipy() -> None:
    interpolate = pytest.importorskip("scipy.interpolate")
    points = np.random.default_rng(4).normal(size=(30, 3))
    at = np.linspace(0.0, 29.0, 301)
    expected = interpolate.CubicSpline(np.arange(30), points, bc_type="natural")
    controls = find_spline_controls(points)
    assert evaluate_spline(controls, at) == pytest.approx(expected(at), abs=1e-11)
    assert evaluate_spline(controls, at, slope=True) == pytest.approx(expected(at, 1), abs=1e-10)


# The surface


def test_ribbon_passes_through_the_alpha_carbons() -> None:
    atoms = peptide(MIXED)
    made = surface(atoms, STRUCTURE)
    for residue in range(1, len(atoms) - 1):
        away = np.linalg.norm(middles(made, residue) - atoms[residue, 1])
        # Strands leave out the pleat, which is 0.9 angstrom high, and so do their neighbours.
        assert away < (1.4 if STRAND in STRUCTURE[residue - 1 : residue + 2] else 0.05), residue


@pytest.mark.parametrize("detail", [{}, {"steps": 4, "corner": 2}, {"width": 1.5}])
def test_ribbon_is_closed_and_faces_outwards(detail: Any) -> None:
    made = surface(peptide(MIXED), STRUCTURE, **detail)
    assert is_closed(made.vertices, made.triangles)
    assert np.square(made.normals).sum(axis=1) == pytest.approx(1.0)
    faces = face_normals(made.vertices, made.triangles)
    is_face = np.linalg.norm(faces, axis=1) > 1e-9
    along = (faces * made.normals[made.triangles].mean(axis=1)).sum(axis=1)[is_face]
    assert (along > 0.0).all()


def test_volume_of_a_straight_tube_is_that_of_a_cylinder() -> None:
    guides = np.outer(np.arange(9.0), [0.0, 0.0, 3.8])
    made = make_ribbon_surface(
        guides, np.tile([1.0, 0.0, 0.0], (9, 1)), np.full(9, COIL), corner=12
    )
    radius = SECTIONS[COIL, 0]
    assert molecules.volume(made.vertices, made.triangles) == pytest.approx(
        np.pi * radius**2 * 8 * 3.8, rel=0.005
    )


def test_widths_of_straight_ribbons() -> None:
    guides = np.outer(np.arange(12.0), [0.0, 0.0, 3.8])
    sides = np.tile([1.0, 0.0, 0.0], (12, 1))
    helix = make_ribbon_surface(guides, sides, np.full(12, HELIX)).vertices
    assert np.ptp(helix[:, 0]) == pytest.approx(2.0 * SECTIONS[HELIX, 0])
    assert np.ptp(helix[:, 1]) == pytest.approx(2.0 * SECTIONS[HELIX, 1])
    structure = np.array([COIL] * 3 + [STRAND] * 6 + [COIL] * 3)
    strand = make_ribbon_surface(guides, sides, structure).vertices
    assert np.ptp(strand[:, 0]) == pytest.approx(2.0 * HEAD)
    widest = strand[np.argmax(strand[:, 0]), 2] / 3.8
    assert widest == pytest.approx(7.0)  # base of the head: its tip is half a residue after the 8th
    beyond = strand[strand[:, 2] > 3.8 * 8.5]
    assert np.abs(beyond[:, 0]).max() == pytest.approx(SECTIONS[COIL, 0])


def spokes(guides: Array, points: Array) -> tuple[Array, Array]:
    """Return the axis of an ideal helix, and vectors from it to points, perpendicular to it."""
    bends = guides[:-2] - 2.0 * guides[1:-1] + guides[2:]
    axis = np.linalg.svd(bends)[2][2]
    flat = guides - np.outer(guides @ axis, axis)
    lines = np.column_stack([2.0 * flat, np.ones(len(flat))])  # |p|^2 = 2 p.c + const
    center = np.linalg.lstsq(lines, np.square(flat).sum(axis=1), rcond=None)[0][:3]
    away = points - center
    return axis, away - np.outer(away @ axis, axis)


def test_sides_of_a_helix_are_along_its_axis() -> None:
    atoms = peptide([molecules.HELIX] * 30)
    made = surface(atoms, np.full(30, HELIX))
    inner = np.unique(made.triangles[(made.places > 4.0) & (made.places < 25.0)])
    axis, away = spokes(atoms[:, 1], made.vertices[inner])
    outwards = (made.normals[inner] * away).sum(axis=1) / np.linalg.norm(away, axis=1)
    # Of 24 corners of a cross-section two are on the outer broad side, and two on the inner one.
    assert (outwards > 0.98).sum() == pytest.approx(len(inner) / 12, rel=0.1)
    assert (outwards < -0.98).sum() == pytest.approx(len(inner) / 12, rel=0.1)
    assert np.abs(made.normals[inner] @ axis)[np.abs(outwards) > 0.98].max() < 0.15


def test_frames_do_not_flip() -> None:
    """From one cross-section to the next, corners move by less than a fraction of the width."""
    made = surface(peptide(MIXED), STRUCTURE)
    corners = made.vertices[made.triangles]
    sides = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2)
    is_cross = (made.places * 12.0) % 1.0 > 0.01  # not the base of a head, nor a cap
    assert sides[is_cross].max() < 2.0 * HEAD
    turned = (made.normals[made.triangles[:, 0]] * made.normals[made.triangles[:, 2]]).sum(axis=1)
    assert turned[is_cross].min() > 0.3


def test_reversed_sides_make_the_same_ribbon() -> None:
    """A ribbon looks the same after half a turn about its curve."""
    atoms = peptide(MIXED)
    sides = atoms[:, 3] - atoms[:, 2]
    one = make_ribbon_surface(atoms[:, 1], sides, STRUCTURE)
    other = make_ribbon_surface(
        atoms[:, 1], sides * np.where(np.arange(37) % 2, 1, -1)[:, None], STRUCTURE
    )
    low, high = one.vertices.min(axis=0), one.vertices.max(axis=0)
    assert other.vertices.min(axis=0) == pytest.approx(low, abs=1e-9)
    assert other.vertices.max(axis=0) == pytest.approx(high, abs=1e-9)


@given(
    arrays(np.int8, st.tuples(st.integers(2, 9), st.just(3)), elements=st.integers(-2, 2)),
    st.lists(st.integers(0, 3), min_size=9, max_size=9),
)
def test_any_chain_has_a_ribbon(guides: Array, kinds: list[int]) -> None:
    """Also with atoms in one place, on a line, or back and forth."""
    structure = np.array(kinds[: len(guides)])
    sides = np.roll(guides, 1, axis=1).astype(float)
    made = make_ribbon_surface(3.8 * guides, sides, structure, steps=4, corner=2)
    assert np.isfinite(made.vertices).all()
    assert np.square(made.normals).sum(axis=1) == pytest.approx(1.0)
    assert is_closed(made.vertices, made.triangles, digits=7)


# Residues and structure


def backbone_in(path: Path) -> backbone.Backbone:
    made = find_backbone(raytracer.load(path).spheres[0])
    assert made is not None
    return made


def test_structure_of_the_records(tmp_path: Path) -> None:
    path = tmp_path / "a.pdb"
    path.write_text(pdb([peptide(MIXED)], helix_record("A", 2, 9) + sheet_record("A", 12, 16)))
    expected = [COIL] + [HELIX] * 8 + [COIL] * 2 + [STRAND] * 5 + [COIL] * 21
    assert backbone_in(path).structure.tolist() == expected


def test_structure_by_dssp(tmp_path: Path) -> None:
    path = tmp_path / "a.pdb"
    path.write_text(pdb([peptide(MIXED)]))
    structure = backbone_in(path).structure
    assert (structure[2:12] == HELIX).all()
    assert (structure[14:] == COIL).all()  # single strands have no bridges


def test_without_the_library_one_sentence_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.pdb"
    path.write_text(pdb([peptide(MIXED)]))
    monkeypatch.setitem(sys.modules, "MDAnalysis.analysis.dssp.pydssp_numpy", None)
    with pytest.warns(raytracer.RaytracerWarning, match=r"pip install 'raytracer\[mdanalysis\]'"):
        made = backbone_in(path)
    assert (made.structure == COIL).all()


def test_breaks_of_chains(tmp_path: Path) -> None:
    """A chain ends with its name, where residues are missing, and before ions named CA."""
    atoms = peptide(MIXED)
    path = tmp_path / "a.pdb"
    ion = "HETATM  999 CA    CA B 901      30.000  30.000  30.000  1.00  0.00          CA\n"
    path.write_text(
        pdb([np.delete(atoms, [10, 11], axis=0), atoms + 40.0]).replace("END\n", ion + "END\n")
    )
    made = backbone_in(path)
    assert np.bincount(made.pieces).tolist() == [10, 25, 37]
    assert made.residues[-1] not in made.residues[made.guides]


def test_residues_with_insertion_codes_are_apart(tmp_path: Path) -> None:
    path = tmp_path / "a.pdb"
    text = pdb([peptide([molecules.STRAND] * 6)], helix_record("A", 90, 99))
    path.write_text(text.replace("ALA A   4 ", "ALA A   3A"))
    made = backbone_in(path)
    assert len(made.guides) == 6
    assert set(made.pieces.tolist()) == {0}


def test_ribbons_of_other_formats(tmp_path: Path) -> None:
    """A .gro file, in nanometres and without chains, has the ribbon of the .pdb file."""
    atoms = peptide(MIXED)
    one, other = tmp_path / "a.pdb", tmp_path / "a.gro"
    one.write_text(pdb([atoms]))
    rows = [
        f"{1 + index // 4:5d}ALA  {molecules.ATOMS[index % 4]:>5s}{index + 1:5d}"
        f"{x / 10:8.3f}{y / 10:8.3f}{z / 10:8.3f}\n"
        for index, (x, y, z) in enumerate(atoms.reshape(-1, 3))
    ]
    other.write_text(f"peptide\n{len(rows)}\n{''.join(rows)}   9.0   9.0   9.0\n")
    (mesh,), (like,) = (shown(path, ribbons=True).meshes for path in (one, other))
    assert mesh.vertices.shape == like.vertices.shape
    assert np.abs(mesh.vertices - like.vertices).max() < 0.1  # coordinates have two digits


def test_nucleic_acids_have_tubes_and_rods(tmp_path: Path) -> None:
    rows, serial = [], 0
    for residue in range(1, 9):
        turn = np.radians(36.0 * residue)
        for name, radius in (("P", 9.0), ("C4'", 8.0), ("N9", 4.5), ("N1", 2.0)):
            serial += 1
            x, y, z = radius * np.cos(turn), radius * np.sin(turn), 3.4 * residue
            rows.append(
                f"ATOM  {serial:5d}  {name:3s}  DA A{residue:4d}    {x:8.3f}{y:8.3f}{z:8.3f}"
                f"  1.00  0.00          {name[0]:>2s}\n"
            )
    path = tmp_path / "dna.pdb"
    path.write_text("".join(rows))
    scene = shown(path, ribbons=True)
    (rods,) = scene.capsules
    assert np.linalg.norm(rods.ends[:, :2], axis=1) == pytest.approx(2.0, abs=0.01)  # N1 of purines
    assert scene.count == 0
    assert is_closed(*mesh_of(scene), digits=4)


# In scenes


@pytest.fixture
def protein(tmp_path: Path) -> Path:
    atoms = peptide(MIXED)
    records = helix_record("A", 1, 14) + sheet_record("A", 19, 26)
    water = "HETATM  900  O   HOH B 901      30.000  30.000  30.000  1.00  0.00           O\n"
    ligand = "HETATM  901  C1  LIG C 902      20.000  20.000  20.000  1.00  0.00           C\n"
    path = tmp_path / "protein.pdb"
    path.write_text(pdb([atoms], records).replace("END\n", water + ligand + "END\n"))
    return path


def test_atoms_of_ribbons_and_water_are_left_out(protein: Path) -> None:
    assert shown(protein).count == 4 * len(MIXED) + 2
    assert shown(protein, ribbons=True).count == 1  # the ligand
    assert shown(protein, ribbons={"particles": 1}).count == 4 * len(MIXED) + 2
    styled = shown(protein, ribbons=True, style="licorice")  # whose bonds need their atoms
    assert styled.count == 4 * len(MIXED) + 2
    faded = shown(protein, ribbons={"particles": 0.25}).spheres[0]
    assert np.asarray(faded.opacity)[[0, -2, -1]].tolist() == [0.25, 0.25, 1.0]


def colors_along(scene: raytracer.Scene) -> Array:
    """Return the different colours of a ribbon's triangles, in the order of the chain."""
    (mesh,) = scene.meshes
    rows = (
        mesh.start.color if mesh.start.color_id is None else mesh.start.color[mesh.start.color_id]
    )
    return np.asarray(np.asarray(rows)[np.append(True, (np.diff(rows, axis=0) != 0).any(axis=1))])


def test_colors(protein: Path) -> None:
    assert len(colors_along(shown(protein, ribbons=True))) == 4  # helix, coil, strand, coil
    assert len(colors_along(shown(protein, ribbons="chain"))) == 1
    assert len(colors_along(shown(protein, ribbons="tomato"))) == 1
    smooth = colors_along(shown(protein, ribbons="rainbow"))
    assert len(smooth) > 300
    assert smooth[0, 2] > smooth[0, 0]  # from blue to red
    assert smooth[-1, 0] > smooth[-1, 2]
    scene = shown(protein, ribbons={"color": {"by": "b_factor", "map": "magma"}})
    assert scene.color_scales[-1].high == pytest.approx(len(MIXED))
    of_atoms = colors_along(shown(protein, ribbons="atoms", color="#204060"))
    assert np.round(255 * of_atoms).tolist() in ([[32, 64, 96]], [[32.0, 64.0, 96.0]])


def test_selected_residues(protein: Path) -> None:
    whole, part = (
        shown(protein, ribbons=True),
        shown(protein, ribbons={"select": "residue_id < 10"}),
    )
    assert part.meshes[0].count < 0.3 * whole.meshes[0].count
    assert part.count == 4 * len(MIXED) + 1 - 9 * 4


def test_structures_have_the_same_colors_in_all_frames(tmp_path: Path) -> None:
    """Also those that DSSP finds in no earlier one."""
    atoms = peptide([molecules.HELIX] * 12 + [(-80.0, 80.0)] * 12)
    extended = peptide([(-80.0, 80.0)] * 24)
    texts = [pdb([each]).replace("END\n", "ENDMDL\n") for each in (extended, atoms)]
    path = tmp_path / "a.pdb"
    path.write_text("".join(f"MODEL {i + 1}\n{text}" for i, text in enumerate(texts)))
    defaults = InferredDefaults()
    made = []
    for frame in (0, 1):
        with infer_defaults(defaults):
            overrides = SceneOverrides.of({"ribbons": True})
            made.append(load_with_overrides(InputSource(path, frame), overrides)[0])
        defaults.is_frozen = True
    coil, both = (colors_along(scene) for scene in made)
    assert len(coil) == 1
    assert len(both) == 3
    assert both[0] == pytest.approx(coil[0])
    assert both[1][0] > 2 * both[1][1]  # red
    assert made[0].color_scales[0].names == ("coil", "helix", "strand")


def test_chains_of_large_structures_are_assigned_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    atoms = peptide(MIXED)
    path = tmp_path / "a.pdb"
    path.write_text(pdb([atoms, atoms + 40.0, atoms - 40.0]))
    together = backbone_in(path).structure
    monkeypatch.setattr(backbone, "MAX_TOGETHER", 50)
    assert backbone_in(path).structure.tolist() == together.tolist()
