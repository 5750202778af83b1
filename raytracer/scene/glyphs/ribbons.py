"""Ribbons of proteins and nucleic acids: meshes along their backbones, and rods for bases."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import SceneError
from raytracer.memory import require_room
from raytracer.scene.bonds import angstrom_of
from raytracer.scene.coloring.scale import ColorScale
from raytracer.scene.coloring.style import StyleSettings
from raytracer.scene.glyphs import shared
from raytracer.scene.glyphs.backbone import (
    STRUCTURES,
    Backbone,
    are_water,
    backbone_of,
    pieces_of,
    sides_of,
)
from raytracer.scene.glyphs.ribbon_surface import NUCLEIC, RibbonSurface, ribbon_surface
from raytracer.scene.glyphs.settings import Ribbons
from raytracer.scene.glyphs.shared import Glyphs
from raytracer.scene.mesh import Mesh
from raytracer.scene.scene import Scene
from raytracer.scene.solids import CapsuleSet
from raytracer.scene.sphere_set import SphereSet

Rows = NDArray[np.int64]

COLORS = {"coil": "#dcdcdc", "helix": "#d9485f", "strand": "#f2b63c", "nucleic acid": "#4e8fd0"}
RAINBOW = ("#3b4cc0", "#2fb5c7", "#6cc24a", "#f2c230", "#d43d2f")  # first residue to last

BASE = 0.35  # radius of the rods of bases, in angstrom

DETAIL = ((2_000, 12, 5), (20_000, 8, 3), (10**9, 4, 2))
"""Most residues of a scene, and the cross-sections per residue and edges of a quarter of a section
that its ribbons have."""

ROW = 150  # most bytes per triangle during construction


class _Chains(NamedTuple):
    """Backbone of a set, whose number is `place`, and its residues as a set of guide atoms."""

    place: int
    spheres: SphereSet
    backbone: Backbone
    residues: SphereSet


def ribbons_of(scene: Scene, ribbons: Ribbons) -> Glyphs:
    """Return the ribbons of the sets that have backbones."""
    sets = enumerate(scene.spheres)
    chains = [made for index, each in sets if (made := _chains(index, each, ribbons)) is not None]
    if not chains:
        raise SceneError(
            "ribbons: no particles of the scene are the backbone of a protein or a nucleic acid: "
            "atoms named CA or C4' in the columns name, residue and residue_id of at least two "
            "neighbouring residues; files such as .pdb, .cif and .gro have them"
        )
    total = sum(len(each.backbone.guides) for each in chains)
    steps, corner = next(detail for most, *detail in DETAIL if total <= most)
    require_room("ribbons", total * steps * 8 * (corner + 1) * ROW, f"for {total:,} residues")
    colored, scales = _colored(chains, ribbons.color)
    is_smooth = any(scale.kind not in ("categorical", "discrete") for scale in scales)
    solids: list[Any] = []
    for each, residues in zip(chains, colored, strict=True):
        solids += _solids(each, residues, is_smooth, ribbons, steps, corner)
    return Glyphs(solids, scales)


def _colored(chains: list[_Chains], color: Any) -> tuple[list[SphereSet], Sequence[ColorScale]]:
    """Return the residues of chains in their colours, and the scales."""
    rule = StyleSettings(color_by="structure") if color is None else color
    by = rule.color_by if isinstance(rule, StyleSettings) else None
    if by == "structure" and (rule.map is None or isinstance(rule.map, Mapping)):
        scale = _structure_scale(chains, rule)
        return [
            each.residues.changed(
                color=scale.palette, color_id=each.backbone.structure, color_space="srgb"
            )
            for each in chains
        ], [scale]
    if by == "rainbow" and rule.map is None:
        rule = replace(rule, map=RAINBOW)
    residues = [each.residues for each in chains]
    return shared.colored(residues, None if by == "atoms" else rule, "ribbons")


def _structure_scale(chains: list[_Chains], rule: StyleSettings) -> ColorScale:
    """Return the colours of structures: those of proteins, in whatever frame there are any."""
    has_acids = any((each.backbone.structure == NUCLEIC).any() for each in chains)
    names = STRUCTURES if has_acids else STRUCTURES[:NUCLEIC]
    colors: dict[str, Any] = {**COLORS, **(rule.map if isinstance(rule.map, Mapping) else {})}
    label = "structure" if rule.color_label is None else rule.color_label
    return ColorScale([colors[each] for each in names], "categorical", label=label, names=names)


def _chains(place: int, spheres: SphereSet, ribbons: Ribbons) -> _Chains | None:
    backbone = backbone_of(spheres, angstrom_of(spheres))
    if backbone is None:
        return None
    residues = _residues(spheres, backbone)
    if ribbons.select is not None:
        rows = shared.chosen(residues.columns, ribbons.select, 1, "ribbons")
        kept = np.zeros(residues.count, np.bool_)
        kept[rows] = True
        apart = np.cumsum(~kept) + backbone.pieces * (residues.count + 1)  # gaps end a piece
        pieces = np.unique(apart, return_inverse=True)[1].reshape(-1)
        backbone = backbone._replace(pieces=pieces).taken(kept)
        backbone = backbone.taken(np.bincount(backbone.pieces)[backbone.pieces] > 1)
        residues = _residues(spheres, backbone)
    return _Chains(place, spheres, backbone, residues) if residues.count else None


def _residues(spheres: SphereSet, backbone: Backbone) -> SphereSet:
    """Return the guide atoms as a set, with the columns `structure` and `rainbow`."""
    residues = spheres.taken(backbone.guides)
    names = np.array(STRUCTURES, "S")[backbone.structure]
    residues = shared.with_column(residues, "structure", names)
    _, first, size = np.unique(backbone.pieces, return_index=True, return_counts=True)
    number = np.arange(residues.count) - np.repeat(first, size)
    return shared.with_column(
        residues, "rainbow", number / np.repeat(np.maximum(size - 1, 1), size)
    )


def _solids(
    chains: _Chains, residues: SphereSet, is_smooth: bool, ribbons: Ribbons, steps: int,
    corner: int,
) -> list[Any]:  # fmt: skip
    """Return the ribbons of a set as one mesh, and the rods of its bases."""
    place, spheres, backbone, _ = chains
    centers = np.asarray(spheres.centers, np.float64)
    unit = angstrom_of(spheres)
    surfaces: list[RibbonSurface] = []
    for rows in pieces_of(backbone):
        structure = backbone.structure[rows]
        sides = sides_of(centers, backbone, rows, structure)
        guides = centers[backbone.guides[rows]]
        made = ribbon_surface(
            guides, sides, structure, steps=steps, corner=corner, unit=unit, width=ribbons.width
        )
        first = sum(len(each.vertices) for each in surfaces)
        surfaces.append(
            made._replace(places=made.places + rows[0], triangles=made.triangles + first)
        )
    vertices, normals, triangles, places = map(np.concatenate, zip(*surfaces, strict=True))
    looks: dict[str, Any] = {
        "material": ribbons.material, "transform": spheres.transform, "opacity": ribbons.opacity,
        "color_space": residues.color_space,
    }  # fmt: skip
    rgb = shared.rgb_of(residues)
    rows_of_colors = rgb[np.rint(places).astype(np.int64)]
    if is_smooth:
        numbers = np.arange(len(rgb))
        rows_of_colors = np.stack([np.interp(places, numbers, axis) for axis in rgb.T], axis=1)
    mesh = Mesh(vertices, triangles, normals=normals, colors=rows_of_colors, **looks)
    mesh.of_set = place
    mesh.replaces = np.flatnonzero((backbone.residues >= 0) | are_water(spheres))
    return [mesh, *_bases(chains, rgb, unit * ribbons.width * BASE, looks)]


def _bases(
    chains: _Chains, rgb: shared.Doubles, radius: float, looks: dict[str, Any]
) -> list[CapsuleSet]:
    """Return rods from the ribbon to the far ends of the bases: N1 of purines, N3 of others."""
    backbone = chains.backbone
    first, third, ninth = backbone.atoms.T
    ends = np.where(ninth >= 0, first, third)
    rows = np.flatnonzero((backbone.structure == NUCLEIC) & (ends >= 0))
    if not len(rows):
        return []
    shared.require_capsules(len(rows), "ribbons")
    centers = np.asarray(chains.spheres.centers, np.float64)
    starts = centers[backbone.guides[rows]]
    return [CapsuleSet(starts, centers[ends[rows]], radius, rgb[rows], **looks)]


def without_atoms(scene: Scene, ribbons: Ribbons) -> list[SphereSet]:
    """Return the sphere sets of a scene without the atoms of ribbons, or with them faded. If the
    settings say nothing, atoms in a molecule style stay."""
    sets = []
    for spheres, kept in zip(scene.spheres, atoms_kept(scene), strict=True):
        has_style = spheres.bonding is not None and spheres.bonding.settings.style is not None
        share = float(has_style) if ribbons.particles is None else ribbons.particles
        if share == 1.0 or kept.all():
            sets.append(spheres)
        elif share == 0.0:
            sets.append(spheres.taken(np.flatnonzero(kept)))
        else:
            sets.append(spheres.faded(share, kept))
    return sets


def atoms_kept(scene: Scene) -> list[NDArray[np.bool_]]:
    """Return which particles of each set are no atoms of ribbons, (N,) each."""
    kept = [np.ones(spheres.count, np.bool_) for spheres in scene.spheres]
    for mesh in scene.meshes:
        if mesh.replaces is not None:
            kept[mesh.of_set][mesh.replaces] = False
    return kept
