"""Twelve files of six fields, as programs of these fields write them, to look at the default look.

`python docs/research/bare_files.py FOLDER [NAME ...]` writes them in about ten seconds; HDF5 needs
h5py. `raytracer render FILE` of each then shows what is inferred for files without a scene:
exposure, radii, camera and up direction.

| file | field | what it holds |
| --- | --- | --- |
| gold.xyz | crystals | a periodic block of gold at 300 K, extended XYZ, element and lattice |
| brass.dump | crystals | a slab of two types without elements, LAMMPS dump, free along z |
| bundle.pdb | proteins | four helices with side chains, PDB with CRYST1 |
| solvated.gro | proteins | a helix in a box of water, GROMACS, nanometres |
| heap.csv | granular | a heap on a plane, x, y, z, radius in metres, z up |
| silo.csv | granular | grains in a cylinder with velocities; a few have left it and are far away |
| dam.vtk | SPH | water behind a broken dam, legacy VTK, velocity and pressure |
| wave.csv | SPH | a wave on a slope with density and velocity, as DualSPHysics exports it |
| cluster.csv | astronomy | a Plummer sphere of stars in parsecs, with escaped ones |
| web.hdf5 | astronomy | dark matter, as Gadget writes it |
| facade.ply | point clouds | a scan of a house with colours, in metres, z up |
| hills.csv | point clouds | a terrain from the air with intensity, large map coordinates |
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from math import pi, radians
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def lattice(cells: tuple[int, int, int], edge: float, motif: Sequence[tuple[float, ...]]) -> Floats:
    """Return the places of a cubic lattice, (N, 3)."""
    axes = np.meshgrid(*[np.arange(n) for n in cells], indexing="ij")
    corners = np.stack(axes, axis=-1).reshape(-1, 1, 3)
    places: Floats = ((corners + np.array(motif)) * edge).reshape(-1, 3)
    return places


FCC = [(0.0, 0.0, 0.0), (0.5, 0.5, 0.0), (0.5, 0.0, 0.5), (0.0, 0.5, 0.5)]
BCC = [(0.0, 0.0, 0.0), (0.5, 0.5, 0.5)]


def write_table(path: Path, head: str, form: str, *columns: Any) -> None:
    """Write rows of columns below a first line; form: of one row, as of `%`."""
    rows = zip(*columns, strict=True)
    path.write_text(head + "\n" + "\n".join(form % row for row in rows) + "\n")


def gold(path: Path) -> None:
    """Write a periodic block of gold with the motion of 300 K."""
    edge, cells = 4.078, 12
    places = lattice((cells,) * 3, edge, FCC) + np.random.default_rng(1).normal(
        0, 0.085, (4 * cells**3, 3)
    )
    side = edge * cells
    head = (
        f'{len(places)}\nLattice="{side} 0 0 0 {side} 0 0 0 {side}" '
        'Properties=species:S:1:pos:R:3 pbc="T T T"'
    )
    write_table(path, head, "Au %.5f %.5f %.5f", *places.T)


def brass(path: Path) -> None:
    """Write a slab of an ordered alloy with a trench, types 1 and 2."""
    edge = 2.95
    places = lattice((22, 22, 9), edge, BCC)
    kinds = np.tile([1, 2], len(places) // 2)
    x, _, z = places.T
    side = 22 * edge
    keep = ~((np.abs(x - side / 2) < 0.18 * side) & (z > 14))
    places, kinds = places[keep], kinds[keep]
    places = places + np.random.default_rng(2).normal(0, 0.06, places.shape)
    energy = (
        -4.4
        + 0.5 * (places[:, 2] > 22)
        + 0.05 * np.random.default_rng(3).normal(size=len(x))[: len(places)]
    )
    head = "\n".join([
        "ITEM: TIMESTEP", "250000", "ITEM: NUMBER OF ATOMS", str(len(places)),
        "ITEM: BOX BOUNDS pp pp ff", f"0 {side}", f"0 {side}", f"-12 {9 * edge + 12}",
        "ITEM: ATOMS id type x y z c_pe",
    ])  # fmt: skip
    numbers = np.arange(1, len(places) + 1)
    write_table(path, head, "%d %d %.5f %.5f %.5f %.4f", numbers, kinds, *places.T, energy)


# Atoms of a residue of an alpha helix: name, element, radius, angle and height about its axis.
HELIX = [
    ("N", "N", 1.57, -28.0, -0.9), ("CA", "C", 2.29, 0.0, 0.0), ("C", "C", 1.64, 27.0, 1.1),
    ("O", "O", 2.02, 20.0, 2.3), ("CB", "C", 3.31, -18.0, 0.2), ("CG", "C", 4.60, -10.0, -0.4),
    ("CD", "C", 5.75, -17.0, -1.1), ("OE", "O", 6.75, -11.0, -1.6),
]  # fmt: skip
RESIDUES = {"ALA": 5, "VAL": 6, "LEU": 7, "GLU": 8}


def helix(count: int, seed: int) -> tuple[list[tuple[str, str, str, int]], Floats]:
    """Return atoms (name, element, residue, number) and places of a helix along z."""
    rng = np.random.default_rng(seed)
    atoms, places = [], []
    for number in range(count):
        residue = str(rng.choice(list(RESIDUES)))
        for name, element, radius, angle, height in HELIX[: RESIDUES[residue]]:
            turn = radians(100.0 * number + angle)
            atoms.append((name, element, residue, number + 1))
            places.append((radius * np.cos(turn), radius * np.sin(turn), 1.5 * number + height))
    return atoms, np.array(places)


def bundle(path: Path) -> None:
    """Write a bundle of four helices as PDB."""
    lines = ["CRYST1   60.000   60.000   80.000  90.00  90.00  90.00 P 1           1"]
    serial = 0
    for chain in range(4):
        atoms, places = helix(34, chain)
        tilt = radians(18.0)
        x, y, z = places.T
        z = z - z.mean()
        if chain % 2:
            y, z = -y, -z
        turned = np.column_stack([x, y * np.cos(tilt) - z * np.sin(tilt),
                                  y * np.sin(tilt) + z * np.cos(tilt)])  # fmt: skip
        angle = chain * pi / 2
        turned[:, 0] += 7.2
        rotation = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0],
                             [0, 0, 1]])  # fmt: skip
        for (name, element, residue, number), (px, py, pz) in zip(
            atoms, turned @ rotation.T + np.array([30, 30, 40]), strict=True
        ):
            serial += 1
            place = f"{residue} {'ABCD'[chain]}{number:4d}"
            tail = f"  1.00 20.00          {element:>2s}"
            lines.append(f"ATOM  {serial:5d}  {name:<3s} {place}    "
                         f"{px:8.3f}{py:8.3f}{pz:8.3f}{tail}")  # fmt: skip
    path.write_text("\n".join([*lines, "END", ""]))


def solvated(path: Path) -> None:
    """Write a helix in water as GROMACS does, in nanometres."""
    rng = np.random.default_rng(5)
    side, spacing = 4.2, 0.31
    atoms, places = helix(18, 9)
    places = (places - places.mean(axis=0)) / 10 + side / 2
    rows = [(number, residue, name, p) for (name, _, residue, number), p in
            zip(atoms, places, strict=True)]  # fmt: skip
    count = round(side / spacing)
    oxygen = lattice((count,) * 3, side / count, [(0.5, 0.5, 0.5)])
    oxygen += rng.uniform(-0.06, 0.06, oxygen.shape)
    far = np.linalg.norm(oxygen[:, None] - places, axis=-1).min(axis=1) > 0.28
    for index, at in enumerate(oxygen[far]):
        first = rng.normal(size=3)
        first /= np.linalg.norm(first)
        across = np.cross(first, rng.normal(size=3))
        across /= np.linalg.norm(across)
        second = np.cos(1.911) * first + np.sin(1.911) * across
        for name, place in (
            ("OW", at),
            ("HW1", at + 0.0957 * first),
            ("HW2", at + 0.0957 * second),
        ):
            rows.append((19 + index, "SOL", name, place))
    lines = ["Helix in water t= 100.00000", f"{len(rows):5d}"]
    for index, (number, residue, name, (x, y, z)) in enumerate(rows):
        place = f"{x:8.3f}{y:8.3f}{z:8.3f}"
        lines.append(f"{number:5d}{residue:<5s}{name:>5s}{index + 1:5d}{place}")
    path.write_text("\n".join([*lines, f"{side:10.5f}" * 3, ""]))


def settled(radii: Floats, wide: float, seed: int, slope: float) -> Floats:
    """Return places of grains dropped one by one onto a heap on z = 0, (N, 3).

    Each rests on the highest grain below its column of drop, and rolls down where the surface is
    steeper than `slope`.
    """
    rng = np.random.default_rng(seed)
    size = float(radii.mean())
    cells = int(2 * wide / size)
    surface = np.zeros((cells, cells))
    axis = (np.arange(cells) + 0.5) * size - wide
    places = np.empty((len(radii), 3))
    for row, radius in enumerate(radii):
        i, j = ((rng.normal(0, 0.12 * wide, 2) + wide) / size).astype(int).clip(2, cells - 3)
        while True:
            near = surface[i - 1 : i + 2, j - 1 : j + 2]
            low = int(near.argmin())
            if surface[i, j] - near.flat[low] <= slope * size or not 2 <= i < cells - 3 > j >= 2:
                break
            i, j = i + low // 3 - 1, j + low % 3 - 1
        places[row] = axis[i], axis[j], surface[i, j] + radius
        places[row, :2] += rng.uniform(-0.3, 0.3, 2) * size
        surface[i, j] += 1.25 * radius
    return places


def heap(path: Path) -> None:
    """Write a heap of polydisperse grains in metres."""
    radii = np.random.default_rng(6).lognormal(np.log(0.004), 0.25, 9000)
    places = settled(radii, 0.25, 6, 0.9)
    write_table(path, "x,y,z,radius", "%.6f,%.6f,%.6f,%.6f", *places.T, radii)


def silo(path: Path) -> None:
    """Write grains in a silo, and twelve that were thrown out of it."""
    rng = np.random.default_rng(7)
    side, spacing = 9, 0.0105
    grid = lattice((2 * side, 2 * side, 44), spacing, [(0.5, 0.5, 0.5)])
    grid[:, :2] -= side * spacing
    grid = grid[np.hypot(grid[:, 0], grid[:, 1]) < (side - 0.5) * spacing]
    grid = grid[grid[:, 2] < 0.40 + 0.25 * np.hypot(grid[:, 0], grid[:, 1])]
    grid += rng.uniform(-0.0016, 0.0016, grid.shape)
    out = np.column_stack([rng.normal(0, 1.6, (12, 2)), rng.uniform(-1.5, 0.2, 12)])
    places = np.concatenate([grid, out])
    radii = rng.uniform(0.0042, 0.0054, len(places))
    speed = np.column_stack([0 * radii, 0 * radii, -0.3 + places[:, 2] / 2])
    write_table(
        path,
        "id,x,y,z,vx,vy,vz,r",
        "%d" + ",%.6f" * 7,
        range(len(places)),
        *places.T,
        *speed.T,
        radii,
    )


def dam(path: Path) -> None:
    """Write water behind a broken dam after Ritter (1892) as legacy VTK."""
    depth, gravity, time, spacing = 1.0, 9.81, 0.35, 0.045
    speed = (gravity * depth) ** 0.5
    axes = [np.arange(-2.0, 2.4, spacing), np.arange(0, 0.6, spacing), np.arange(0, 1.0, spacing)]
    places = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    places += np.random.default_rng(8).uniform(-0.2, 0.2, places.shape) * spacing
    x, _, z = places.T
    front = np.clip(x / time, -speed, 2 * speed)
    surface = (2 * speed - front) ** 2 / (9 * gravity)
    wet = (z < surface) & (surface > spacing)
    along = 2 / 3 * (front + speed)
    velocity = np.stack([along, 0 * along, -0.4 * along * z], axis=1)[wet].astype(">f4")
    pressure = (1000 * gravity * (surface - z))[wet].astype(">f4")
    with path.open("wb") as file:
        file.write(b"# vtk DataFile Version 3.0\nwater\nBINARY\nDATASET POLYDATA\n")
        file.write(f"POINTS {wet.sum()} float\n".encode() + places[wet].astype(">f4").tobytes())
        file.write(f"\nPOINT_DATA {wet.sum()}\nVECTORS velocity float\n".encode())
        file.write(velocity.tobytes() + b"\nSCALARS pressure float 1\nLOOKUP_TABLE default\n")
        file.write(pressure.tobytes())


def wave(path: Path) -> None:
    """Write a wave that runs up a slope, as a table of DualSPHysics."""
    spacing = 0.02
    axes = [np.arange(0, 4.0, spacing), np.arange(0, 0.5, spacing), np.arange(0, 0.9, spacing)]
    places = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    x, y, z = places.T
    bed = np.clip((x - 1.6) * 0.22, 0, None)
    level = 0.36 + 0.30 * np.exp(-(((x - 1.9 - 0.06 * np.sin(9 * y)) / 0.28) ** 2))
    wet = (z > bed) & (z < level)
    places, x, z, level = places[wet], x[wet], z[wet], level[wet]
    places = places + np.random.default_rng(9).uniform(-0.004, 0.004, places.shape)
    speed = np.sqrt(9.81 * level) * (level - 0.36)
    density = 1000 * (1 + 2e-4 * (level - z))
    head = "Pos.x [m],Pos.y [m],Pos.z [m],Idp,Vel.x [m/s],Vel.y [m/s],Vel.z [m/s],Rhop [kg/m^3]"
    form = "%.5f,%.5f,%.5f,%d,%.4f,%.4f,%.4f,%.3f"
    write_table(path, head, form, *places.T, range(len(x)), speed, 0 * x, 0.3 * speed, density)


def cluster(path: Path) -> None:
    """Write a Plummer sphere of stars (Aarseth, Henon and Wielen 1974), scale radius 1 pc."""
    rng = np.random.default_rng(10)
    count = 20_000
    radius = 1 / np.sqrt(rng.uniform(0, 1, count) ** (-2 / 3) - 1)
    way = rng.normal(size=(count, 3))
    way /= np.linalg.norm(way, axis=1)[:, None]
    places = radius[:, None] * way
    speed = rng.normal(0, 1, (count, 3)) / (1 + radius**2)[:, None] ** 0.25
    mass = 0.1 * rng.uniform(0, 1, count) ** (-1 / 1.35)
    write_table(
        path, "x,y,z,vx,vy,vz,mass", ",".join(["%.5f"] * 7), *places.T, *speed.T, mass.clip(0.1, 50)
    )


def web(path: Path) -> None:
    """Write dark matter after the approximation of Zel'dovich, as Gadget does."""
    import h5py

    side, box, growth = 48, 100.0, 5.5
    rng = np.random.default_rng(11)
    waves = np.fft.fftfreq(side) * side * 2 * pi / box
    kx, ky, kz = np.meshgrid(waves, waves, waves[: side // 2 + 1], indexing="ij")
    square = kx**2 + ky**2 + kz**2
    square[0, 0, 0] = 1.0
    size = np.sqrt(square)
    modes = np.fft.rfftn(rng.normal(size=(side,) * 3)) * np.exp(-((size / 0.9) ** 2)) / square
    modes *= np.sqrt(size / (1 + (size / 0.15) ** 3.2))
    moved = [np.fft.irfftn(1j * k * modes, (side,) * 3, (0, 1, 2)) for k in (kx, ky, kz)]
    shift = np.stack(moved, axis=-1).reshape(-1, 3)
    shift *= growth / shift.std()
    places = (lattice((side,) * 3, box / side, [(0.5, 0.5, 0.5)]) + shift) % box
    with h5py.File(path, "w") as file:
        header = file.create_group("Header")
        header.attrs["BoxSize"], header.attrs["Redshift"] = box, 0.5
        group = file.create_group("PartType1")
        group["Coordinates"] = places.astype("f4")
        group["Velocities"] = (100 * shift).astype("f4")
        group["ParticleIDs"] = np.arange(len(places))


def facade(path: Path) -> None:
    """Write a scan of a house and a lawn: points denser near the scanner, with colours."""
    rng = np.random.default_rng(12)

    def wall(count: int, corner: Any, a: Any, b: Any) -> Floats:
        u, v = rng.uniform(0, 1, (2, count, 1))
        places: Floats = np.asarray(corner) + u * np.asarray(a) + v * np.asarray(b)
        return places

    front = wall(60_000, (0, 0, 0), (12, 0, 0), (0, 0, 6))
    window = (np.abs((front[:, 0] % 3) - 1.5) < 0.6) & (np.abs((front[:, 2] % 3) - 1.6) < 0.7)
    door = (np.abs(front[:, 0] - 6) < 0.7) & (front[:, 2] < 2.2)
    front[window & ~door, 1] += 0.15
    parts = [
        (front[door], (92, 62, 40)), (front[window & ~door], (70, 84, 100)),
        (front[~(window | door)], (222, 203, 170)),
        (wall(16_000, (12, 0, 0), (0, 8, 0), (0, 0, 6)), (205, 188, 158)),
        (wall(26_000, (-0.5, -0.5, 6), (13, 0, 0), (0, 4.5, 3.4)), (164, 78, 58)),
    ]  # fmt: skip
    lawn = rng.uniform(0, 1, (60_000, 2)) ** (0.8, 1.6) * (24, -12) - (6, 0)
    lawn = np.column_stack([lawn, 0.05 * rng.normal(size=len(lawn)) * 0.6])
    parts.append((lawn, (96, 128, 62)))
    for x, y in ((-4, -3), (15.5, -4.5)):
        way = rng.normal(size=(9000, 3))
        way /= np.linalg.norm(way, axis=1)[:, None]
        crown = way * rng.uniform(0.75, 1, (9000, 1)) * (1.7, 1.7, 2.1) + (x, y, 4.2)
        angle, up = rng.uniform(0, 2 * pi, 1500), rng.uniform(0, 2.6, 1500)
        trunk = np.column_stack([x + 0.2 * np.cos(angle), y + 0.2 * np.sin(angle), up])
        parts += [(crown, (66, 104, 48)), (trunk, (98, 76, 54))]
    places = np.concatenate([p for p, _ in parts])
    colors = np.concatenate([np.tile(c, (len(p), 1)) for p, c in parts])
    colors = (colors * rng.normal(1, 0.06, (len(colors), 1))).clip(0, 255).astype(np.uint8)
    places = places + rng.normal(0, 0.006, places.shape)
    kind = np.dtype([(n, "<f4") for n in "xyz"] + [(n, "u1") for n in ("red", "green", "blue")])
    rows = np.empty(len(places), kind)
    for index, name in enumerate(kind.names or ()):
        rows[name] = places.T[index] if index < 3 else colors.T[index - 3]
    head = ["ply", "format binary_little_endian 1.0", f"element vertex {len(rows)}"]
    head += [f"property {'float' if n in 'xyz' else 'uchar'} {n}" for n in kind.names or ()]
    path.write_bytes("\n".join([*head, "end_header", ""]).encode() + rows.tobytes())


def hills(path: Path) -> None:
    """Write a terrain scanned from the air, with trees, two birds and noise far below."""
    rng = np.random.default_rng(13)
    x, y = rng.uniform(0, 400, (2, 70_000)) * np.array([[1], [0.75]])

    def ground(x: Floats, y: Floats) -> Floats:
        ridge = 34 * np.exp(-(((y - 150 - 40 * np.sin(x / 90)) / 60) ** 2))
        height: Floats = 210 + ridge + 5 * np.sin(x / 31) * np.cos(y / 27)
        return height + 1.2 * np.sin(x / 7 + y / 9)

    trees = rng.uniform(0, 1, (900, 2)) * (400, 300)
    cx, cy = np.repeat(trees, 25, axis=0).T
    up = rng.uniform(0.2, 1, len(cx))
    angle, out = rng.uniform(0, 2 * pi, len(cx)), (1.05 - up) * 4.5
    crowns = np.column_stack(
        [cx + out * np.cos(angle), cy + out * np.sin(angle), ground(cx, cy) + 13 * up]
    )
    places = np.concatenate([np.column_stack([x, y, ground(x, y)]), crowns])
    stray = np.column_stack([rng.uniform(0, 400, (3, 2)), [1900.0, 2100.0, -2400.0]])
    places = np.concatenate([places, stray]) + np.array([412_000, 5_643_000, 0])
    light = rng.integers(40, 4000, len(places))
    write_table(path, "X,Y,Z,Intensity", "%.3f,%.3f,%.3f,%d", *places.T, light)


FILES: dict[str, Callable[[Path], None]] = {
    "gold.xyz": gold, "brass.dump": brass, "bundle.pdb": bundle, "solvated.gro": solvated,
    "heap.csv": heap, "silo.csv": silo, "dam.vtk": dam, "wave.csv": wave, "cluster.csv": cluster,
    "web.hdf5": web, "facade.ply": facade, "hills.csv": hills,
}  # fmt: skip


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help=" ".join(FILES))
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    for name in args.names or FILES:
        FILES[name](args.folder / name)


if __name__ == "__main__":
    main()
