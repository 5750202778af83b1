"""Ribbons of proteins and nucleic acids: meshes along their backbones, and rods for bases."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.appearance.bonds import estimate_angstrom
from raytracer.appearance.coloring.scale import ColorScale
from raytracer.appearance.coloring.style import StyleSettings
from raytracer.appearance.glyphs import shared
from raytracer.appearance.glyphs.backbone import (
    STRUCTURES,
    Backbone,
    find_backbone,
    find_ribbon_sides,
    find_water,
)
from raytracer.appearance.glyphs.ribbon_surface import NUCLEIC, RibbonSurface, make_ribbon_surface
from raytracer.appearance.glyphs.settings import Ribbons
from raytracer.appearance.glyphs.shared import GlyphSet
from raytracer.config.errors import SceneError
from raytracer.model.mesh import Mesh
from raytracer.model.scene import Scene
from raytracer.model.solids import CapsuleSet
from raytracer.model.sphere_set import SphereSet
from raytracer.system.memory import require_room

COLORS = {"coil": "#dcdcdc", "helix": "#d9485f", "strand": "#f2b63c", "nucleic acid": "#4e8fd0"}
RAINBOW = ("#3b4cc0", "#2fb5c7", "#6cc24a", "#f2c230", "#d43d2f")  # first residue to last

BASE = 0.35  # radius of the rods of bases, in angstrom

DETAIL = ((2_000, 12, 5), (20_000, 8, 3), (10**9, 4, 2))
"""Most residues of a scene, and the cross-sections per residue and edges of a quarter of a section
that its ribbons have."""

ROW = 150  # most bytes per triangle during construction


def make_ribbons(scene: Scene, ribbons: Ribbons) -> GlyphSet:
    """Return the ribbons of the sets that have backbones."""
    chains = [_find_chains(spheres, ribbons.select) for spheres in scene.spheres]
    found = [each for each in chains if each is not None]
    if not found:
        raise SceneError(
            "ribbons: no particles of the scene are the backbone of a protein or a nucleic acid: "
            "atoms named CA or C4' in the columns name, residue and residue_id of at least two "
            "neighbouring residues; files such as .pdb, .cif and .gro have them"
        )
    total = sum(len(each.guides) for each in found)
    detail = next(detail for most, *detail in DETAIL if total <= most)
    triangles = total * detail[0] * 8 * (detail[1] + 1)
    require_room("ribbons", triangles * ROW, f"for {total:,} residues")
    colored, scales = _color_chains(found, ribbons.color)
    is_smooth = any(scale.kind not in ("categorical", "discrete") for scale in scales)
    solids: list[Any] = []
    residues = iter(colored)
    for place, each in enumerate(chains):
        if each is not None:
            mesh, *rods = _make_solids(each, next(residues), is_smooth, ribbons, *detail)
            mesh.of_set = place
            solids += [mesh, *rods]
    return GlyphSet(solids, scales)


def _find_chains(spheres: SphereSet, select: str | None) -> Backbone | None:
    backbone = find_backbone(spheres, estimate_angstrom(spheres))
    if backbone is not None and select is not None:
        rows = shared.select_every(_guide_set(backbone).columns, select, 1, "ribbons")
        backbone = backbone.taken(np.isin(np.arange(len(backbone.guides)), rows))
    return backbone if backbone is not None and len(backbone.guides) else None


def _color_chains(
    chains: list[Backbone], color: Any
) -> tuple[list[SphereSet], Sequence[ColorScale]]:
    """Return the residues of chains in their colours, and the scales."""
    rule = StyleSettings(color_by="structure") if color is None else color
    by = rule.color_by if isinstance(rule, StyleSettings) else None
    residues = [_guide_set(each) for each in chains]
    if by == "structure" and (rule.map is None or isinstance(rule.map, Mapping)):
        # those of proteins, in whatever frame there are any
        names = STRUCTURES if any(each.is_acid.any() for each in chains) else STRUCTURES[:NUCLEIC]
        colors: dict[str, Any] = {**COLORS, **(rule.map or {})}
        label = "structure" if rule.color_label is None else rule.color_label
        palette = [colors[each] for each in names]
        scale = ColorScale(palette, "categorical", label=label, names=names)
        both = zip(residues, chains, strict=True)
        looks: Any = {"color": scale.palette, "color_space": "srgb"}
        return [each.changed(color_id=chain.structure, **looks) for each, chain in both], [scale]
    if by == "rainbow" and rule.map is None:
        rule = replace(rule, map=RAINBOW)
    return shared.color_sets(residues, None if by == "atoms" else rule, "ribbons")


def _guide_set(backbone: Backbone) -> SphereSet:
    """Return the guide atoms as a set, with the columns `structure` and `rainbow`."""
    names = np.array(STRUCTURES, "S")[backbone.structure]
    residues = shared.add_column(backbone.spheres.taken(backbone.guides), "structure", names)
    _, first, size = np.unique(backbone.pieces, return_index=True, return_counts=True)
    number = np.arange(residues.count) - np.repeat(first, size)
    share = number / np.repeat(np.maximum(size - 1, 1), size)
    return shared.add_column(residues, "rainbow", share)


def _make_solids(
    backbone: Backbone, residues: SphereSet, is_smooth: bool, ribbons: Ribbons, steps: int,
    corner: int,
) -> list[Any]:  # fmt: skip
    """Return the ribbons of a set as one mesh, and rods from them to the far ends of the bases: N1
    of purines, N3 of others."""
    spheres, centers, first = backbone.spheres, backbone.centers, 0
    surfaces: list[RibbonSurface] = []
    for rows in np.split(np.arange(residues.count), np.flatnonzero(np.diff(backbone.pieces)) + 1):
        made = make_ribbon_surface(
            centers[backbone.guides[rows]],
            find_ribbon_sides(backbone, rows),
            backbone.structure[rows],
            steps=steps,
            corner=corner,
            unit=backbone.unit,
            width=ribbons.width,
        )
        surfaces.append(
            made._replace(places=made.places + rows[0], triangles=made.triangles + first)
        )
        first += len(made.vertices)
    vertices, normals, triangles, places = map(np.concatenate, zip(*surfaces, strict=True))
    looks: dict[str, Any] = {
        "material": ribbons.material, "transform": spheres.transform, "opacity": ribbons.opacity,
        "color_space": residues.color_space,
    }  # fmt: skip
    rgb = shared.pick_rgb(residues)
    colors = rgb[np.rint(places).astype(np.int64)]
    if is_smooth:
        colors = np.stack([np.interp(places, np.arange(len(rgb)), axis) for axis in rgb.T], axis=1)
    mesh = Mesh(vertices, triangles, normals=normals, colors=colors, **looks)
    shown = np.isin(backbone.residues, backbone.residues[backbone.guides])
    mesh.replaces = np.flatnonzero(shown | find_water(spheres))
    one, third, ninth = backbone.atoms.T
    ends = np.where(ninth >= 0, one, third)
    rods = np.flatnonzero(backbone.is_acid & (ends >= 0))
    if not len(rods):
        return [mesh]
    shared.require_capsules(len(rods), "ribbons")
    starts, stops = centers[backbone.guides[rods]], centers[ends[rods]]
    radius = backbone.unit * ribbons.width * BASE
    return [mesh, CapsuleSet(starts, stops, radius, rgb[rods], **looks)]


def hide_ribbon_atoms(scene: Scene, ribbons: Ribbons) -> list[SphereSet]:
    """Return the sphere sets of a scene without the atoms of ribbons, or with them faded. If the
    settings say nothing, atoms in a molecule style stay."""
    sets = []
    for spheres, kept in zip(scene.spheres, find_kept_atoms(scene), strict=True):
        has_style = spheres.bonding is not None and spheres.bonding.settings.style is not None
        share = float(has_style) if ribbons.particles is None else ribbons.particles
        if share == 1.0 or kept.all():
            sets.append(spheres)
        elif share == 0.0:
            sets.append(spheres.taken(np.flatnonzero(kept)))
        else:
            sets.append(spheres.faded(share, kept))
    return sets


def find_kept_atoms(scene: Scene) -> list[NDArray[np.bool_]]:
    """Return which particles of each set are no atoms of ribbons, (N,) each."""
    kept = [np.ones(spheres.count, np.bool_) for spheres in scene.spheres]
    for mesh in scene.meshes:
        if mesh.replaces is not None:
            kept[mesh.of_set][mesh.replaces] = False
    return kept
