"""The generators: the hash, the laws they claim, and their files."""

import numpy as np
import pytest

from raytracer.config.errors import UserError
from raytracer.scene_files import generate
from raytracer.scene_files.generators import _base, crystal
from raytracer.scene_files.generators.pile import near_pairs

WORD = 2**32
# Small enough to be quick, large enough to be itself.
COUNTS = {
    "cloud": 3000,
    "crystal": 3000,
    "galaxy": 3000,
    "pile": 3000,
    "plummer": 3000,
    "sphereflake": 820,
    "weekend": 200,
}


def pcg3d_by_integers(x: int, y: int, z: int) -> tuple[int, int, int]:
    """The hash once more, in Python's own integers."""
    x, y, z = ((v * 1664525 + 1013904223) % WORD for v in (x, y, z))
    x = (x + y * z) % WORD
    y = (y + z * x) % WORD
    z = (z + x * y) % WORD
    x, y, z = x ^ (x >> 16), y ^ (y >> 16), z ^ (z >> 16)
    x = (x + y * z) % WORD
    y = (y + z * x) % WORD
    z = (z + x * y) % WORD
    return x, y, z


def test_hash_wraps_around_like_integers_modulo_two_to_the_32() -> None:
    edge = [0, 1, 2, 65535, 65536, 0x7FFFFFFF, 0x80000000, WORD - 2, WORD - 1]
    triples = [(a, b, c) for a in edge for b in edge for c in edge]
    got = _base.hash_pcg3d(*np.array(triples, np.uint32).T)
    assert [tuple(map(int, t)) for t in zip(*got, strict=True)] == [
        pcg3d_by_integers(*t) for t in triples
    ]


@pytest.mark.parametrize("name", [*generate.GENERATORS])
def test_arrays_are_finite_and_the_same_again(name: str) -> None:
    first = generate.arrays(name, COUNTS[name], 7)
    again = generate.arrays(name, COUNTS[name], 7)
    n = len(first["radii"])
    assert 0.75 * COUNTS[name] <= n <= 1.35 * COUNTS[name]
    assert first["centers"].shape == first["colors"].shape == (n, 3)
    assert [first[k].dtype for k in ("centers", "radii", "colors")] == ["f4", "f4", "u1"]
    assert np.isfinite(first["centers"]).all()
    assert np.greater(first["radii"].astype(float), 0).all()
    assert all(np.array_equal(first[k], again[k]) for k in first)
    assert len(generate.arrays(name, 1, 0)["radii"]) >= 1


@pytest.mark.parametrize("name", ["cloud", "galaxy", "plummer"])
def test_a_block_alone_equals_its_share_of_the_whole(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = generate.arrays(name, 1000, 1)
    monkeypatch.setattr(generate, "BLOCK", 77)
    pieces = generate.arrays(name, 1000, 1)
    assert all(np.array_equal(whole[k], pieces[k]) for k in whole)


def test_flake_has_whole_levels_of_touching_balls() -> None:
    (flake,) = generate.build("sphereflake", 8000)
    radii, counts = np.unique(flake.radii, return_counts=True)
    assert counts[::-1].tolist() == [1, 9, 81, 729, 6561]
    assert np.allclose(radii[::-1], 3.0 ** -np.arange(5), rtol=1e-6)
    first, second = flake.centers[1:10].astype(float), flake.centers[10:91].astype(float)
    assert np.allclose(np.linalg.norm(first, axis=1), 4 / 3, atol=1e-6)
    reach = np.linalg.norm(second.reshape(9, 9, 3) - first[:, None], axis=2)
    assert np.allclose(reach, 4 / 9, atol=1e-6)
    # The nine neighbours of a close packing: nobody nearer than 60 degrees.
    cosines = first @ first.T * 9 / 16 - np.eye(9)
    assert np.isclose(cosines.max(), 0.5, atol=1e-6)


def test_crystal_is_face_centred_cubic() -> None:
    atoms = crystal.lattice(6)
    gaps = np.linalg.norm(atoms[:, None] - atoms[None], axis=2)
    gaps[gaps == 0] = np.inf
    # Nearest neighbours stand a / sqrt(2) apart, in half lattice constants sqrt(2).
    assert np.isclose(gaps.min(), 2**0.5, rtol=1e-12)
    (gold,) = generate.build("crystal", 3000)
    half_steps = gold.centers.astype(float) / (crystal.LATTICE / 2)
    assert np.abs(half_steps - np.round(half_steps)).max() < 1e-5
    assert np.isclose(gold.radii[0] * 2, crystal.LATTICE / 2**0.5, rtol=1e-6)
    assert np.linalg.norm(half_steps, axis=1).min() > crystal.VOID * crystal.half_edge(3000)


def test_grains_lie_on_the_ground_and_hardly_overlap() -> None:
    (heap,) = generate.build("pile", 3000, 1)
    centers, radii = heap.centers.astype(float), heap.radii.astype(float)
    assert (centers[:, 1] >= radii * 0.9999).all()
    i, j = near_pairs(centers.T.copy(), radii, 0.0)
    gap = np.linalg.norm(centers[i] - centers[j], axis=1)
    overlap = (radii[i] + radii[j] - gap) / np.minimum(radii[i], radii[j])
    assert np.quantile(overlap, 0.95) < 0.2
    assert overlap.max() < 0.8
    # A heap: most grains touch something, and it is a third as high as wide.
    assert len(i) > len(radii)
    assert 0.3 < centers[:, 1].max() < 0.65


def test_weekend_balls_stand_on_the_ground_and_apart() -> None:
    whole = generate.arrays("weekend", 487, 1)
    centers, radii = whole["centers"].astype(float), whole["radii"].astype(float)
    ground = np.linalg.norm(centers - (0, -1000, 0), axis=1) - 1000 - radii
    assert np.abs(ground).max() < 1e-4
    first, _ = near_pairs(centers.T.copy(), radii, 0.0)
    assert len(first) == 0
    parts = {p.name: len(p.radii) for p in generate.build("weekend", 487, 1)}
    assert set(parts) == {"matte", "metal", "glass"}
    assert sum(parts.values()) == len(radii)
    assert len(generate.arrays("weekend/metal", 487, 1)["radii"]) == parts["metal"]


@pytest.mark.parametrize(
    ("name", "count", "seed", "says"),
    [
        ("cluod", None, None, "did you mean 'cloud'"),
        ("weekend/paper", None, None, "matte, metal, glass"),
        ("cloud", 0, None, "count: must be at least 1"),
        ("cloud", 10, -1, "seed: must be at least 0"),
    ],
)
def test_mistakes_are_named(name: str, count: int | None, seed: int | None, says: str) -> None:
    with pytest.raises(UserError, match=says):
        generate.arrays(name, count, seed)
