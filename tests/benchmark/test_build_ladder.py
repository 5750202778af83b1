"""The rungs of `bench build` on the CPU: every ray finds what a search of all spheres finds."""

import ctypes
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import raytracer
from raytracer.backends.cuda.tree import DIGITS, PACKED_BYTES, SORT_PASSES
from raytracer.backends.kernel_sources import Variant, discover_variants
from raytracer.benchmark import ray_search
from raytracer.benchmark.build_ladder import RungTree, compute_memory_sizes
from raytracer.benchmark.ray_search import (
    FAR,
    HIT,
    NO_PRIMITIVE,
    awkward_records,
    draw_rays,
    find_fault,
    search,
)
from raytracer.config.errors import BackendError, UserError
from raytracer.system import layout
from support.trees_on_cpu import Memory, builder, functions_of, rung_library, tree_on

RUNGS = discover_variants("build")
RAYS = 192
COUNTS = (1, 2, 3, 300)
Floats = NDArray[np.float32]


@dataclass
class Case:
    """Spheres with rays, sorted along the curve once for all rungs."""

    about: str
    records: Floats
    rays: Floats
    bounds: tuple[NDArray[np.float64], NDArray[np.float64]]  # of the right lengths
    tree: Any  # a DeviceTree
    memory: Memory
    args: NDArray[np.void]
    contents: dict[str, NDArray[np.uint8]]

    def sort(self, _stream: None) -> NDArray[np.void]:
        for name, values in self.contents.items():
            self.memory.arrays[name][:] = values
        return self.args


def sorted_case(kernels: ctypes.CDLL, about: str, records: Floats) -> Case:
    memory, rays = Memory(compute_memory_sizes(len(records), RAYS)), draw_rays(records, RAYS)
    for name, values in (("records", records), ("rays", rays)):
        memory.arrays[name].view(np.float32)[:] = values.reshape(-1)
    tree = tree_on(kernels, memory, len(records), 0)
    args = tree.sort(None)
    contents = {name: values.copy() for name, values in memory.arrays.items()}
    return Case(about, records, rays, search(records, rays), tree, memory, args, contents)


@pytest.fixture(scope="module")
def kernels(libraries: Path) -> ctypes.CDLL:
    return builder(libraries)


@pytest.fixture(scope="module")
def cases(kernels: ctypes.CDLL) -> list[Case]:
    return [sorted_case(kernels, *each) for each in awkward_records(COUNTS)]


def tree_of(case: Case, libraries: Path, rung: Variant) -> RungTree:
    built = rung_library(libraries, rung)

    def shoot(grid: Any, block: Any, _stream: Any, args: bytes, *more: int) -> None:
        built.shoot(grid[0], block[0], args, *map(ctypes.c_uint64, more))

    functions = functions_of(built, rung.entries)
    functions["trace"] = SimpleNamespace(prepared_async_call=shoot)
    case.tree.sort = case.sort
    return RungTree(case.tree, rung, functions, 1, RAYS, None)


def hits_of(tree: RungTree) -> NDArray[np.void]:
    tree.build()
    tree.trace()
    memory: Any = tree.tree.memory
    return memory.arrays["hits"].view(HIT).copy()  # type: ignore[no-any-return]


@pytest.mark.parametrize("rung", RUNGS, ids=lambda each: each.label)
def test_rays_find_what_a_search_of_all_spheres_finds(
    cases: list[Case], libraries: Path, rung: Variant
) -> None:
    for case in cases:
        tree, records, about = tree_of(case, libraries, rung), case.records, case.about
        hits = hits_of(tree)
        assert not find_fault(records, case.rays, hits, *case.bounds), about
        assert (hits["t"] < FAR).any(), f"{about}: rays that all miss test nothing"
        if rung.number < 4 and len(records) > 1:
            check_binary(case.memory, records, about)
        assert hits_of(tree).tobytes() == hits.tobytes(), f"{about}: not the same again"


# of BuildState: behind what packing and the build leave, a ticket and six keys of bounds
ROOT_AT = PACKED_BYTES + layout.struct_dtype("TreeResult").itemsize + 4 * 7
# behind it the digits and tickets of the sort, and a ticket for each level
LEVEL_AT = ROOT_AT + 4 * (1 + SORT_PASSES * (DIGITS + 1) + 36)


def check_binary(memory: Any, records: Floats, about: str) -> None:
    """Check that a binary tree has each sphere once, and boxes that are as small as they can be."""
    count = len(records)
    words = memory.arrays["clusters"][: 32 * count]
    boxes, children = words.view("f4").reshape(-1, 8), words.view("u4").reshape(-1, 8)[:, 6:]
    kinds = memory.arrays["clusters"][32 * count : 33 * count]
    low, high = records[:, :3] - records[:, 3:], records[:, :3] + records[:, 3:]
    inner = [
        int(child) for node in range(count - 1) for k, child in enumerate(children[node])
        if not kinds[node] >> (6 + k) & 1
    ]  # fmt: skip
    leaves = [
        int(child) for node in range(count - 1) for k, child in enumerate(children[node])
        if kinds[node] >> (6 + k) & 1
    ]  # fmt: skip
    assert sorted(leaves) == list(range(count)), about
    (root,) = set(range(count - 1)) - set(inner)
    assert len(inner) == count - 2, about
    for node in range(count - 1):
        of_children = [
            (low[child], high[child]) if kinds[node] >> (6 + k) & 1
            else (boxes[child, :3], boxes[child, 3:6])
            for k, child in enumerate(children[node])
        ]  # fmt: skip
        np.testing.assert_array_equal(boxes[node, :3], np.min([b[0] for b in of_children], axis=0))
        np.testing.assert_array_equal(boxes[node, 3:6], np.max([b[1] for b in of_children], axis=0))
    assert memory.arrays["state"][ROOT_AT : ROOT_AT + 4].view("u4")[0] == root


def test_the_wide_nodes_are_those_of_the_renderer(cases: list[Case], libraries: Path) -> None:
    (rung,) = [each for each in RUNGS if each.name == "wide_nodes"]
    for case in cases:
        found = []
        for build in (tree_of(case, libraries, rung).build, partial(case.tree.build, None)):
            case.tree.sort = lambda *_, of=case, **__: of.sort(None)
            build()
            state, arrays = case.memory.arrays["state"], case.memory.arrays
            counted = state[PACKED_BYTES : PACKED_BYTES + 4].view("u4")[0]
            found.append([arrays[name].tobytes() for name in ("spheres", "order")])
            found[-1].append(arrays["nodes"][: 80 * counted].tobytes())
        assert found[0] == found[1], case.about


def test_equal_clusters_are_merged_in_pairs(cases: list[Case], libraries: Path) -> None:
    """With a round for each merge a lattice of a million spheres would take minutes."""
    (rung,) = [each for each in RUNGS if each.name == "ploc"]
    (case,) = [each for each in cases if each.about == "300 times the same sphere"]
    tree_of(case, libraries, rung).build()
    word = case.memory.arrays["state"][LEVEL_AT : LEVEL_AT + 8].view("u8")[0]
    assert word & 0xFFFFFFFF == 1
    assert word >> 33 == 2 + 8, "tiles of the rounds over 300, 150, 75, 38, 19, 10, 5, 3 and 2"


def test_faults_are_found() -> None:
    records = np.array([[0, 0, 0, 1], [4, 0, 0, 1]], np.float32)
    rays = np.zeros((2, 8), np.float32)
    rays[:, :3], rays[:, 4] = [[-3, 0, 0], [-3, 2, 0]], 1.0
    right = np.array([(2.0, 0), (3e38, NO_PRIMITIVE)], HIT)
    bounds = search(records, rays)
    assert find_fault(records, rays, right, *bounds) == ""
    for ray, hit in (
        (0, (6.0, 1)), (0, (2.0, 1)), (0, (2.0, 7)), (0, (2.1, 0)), (0, right[1]), (0, (np.nan, 0)),
        (1, (3.0, 0)), (1, (3e38, 0)),
    ):  # fmt: skip
        wrong = right.copy()
        wrong[ray] = hit
        assert f"ray {ray} hits" in find_fault(records, rays, wrong, *bounds), hit


def test_bounds_of_the_search_hold_the_roots_of_the_ray_equation() -> None:
    """Roots of |o + s d - c|^2 = r^2 for the direction d as it is, not quite a unit vector."""
    for about, records in awkward_records((33, 257)):
        rays = draw_rays(records, ray_search.CHECKED)
        first, last = search(records, rays)
        d, apart = rays[:, None, 4:7].astype("f8"), rays[:, None, :3].astype("f8") - records[:, :3]
        a, b = (d * d).sum(axis=2), (d * apart).sum(axis=2)
        c = (apart * apart).sum(axis=2) - records[:, 3].astype("f8") ** 2
        inside = b * b - a * c
        s = np.where(inside >= 0, (-b - np.sqrt(np.maximum(inside, 0))) / a, np.inf)
        length = s.min(axis=1) * np.linalg.norm(d[:, 0], axis=1)
        assert np.isfinite(length).sum() > ray_search.CHECKED / 4, about
        assert ((first <= length) & (length <= last)).all(), about


def test_rungs_need_a_gpu() -> None:
    with pytest.raises(UserError, match="nothing"):
        raytracer.bench("build", variant="nothing", backend="cpu")
    with pytest.raises(BackendError, match="leave out --variant"):
        raytracer.bench("build", variant="02", backend="cpu")


@pytest.mark.gpu
def test_every_rung_is_right_on_a_gpu(cuda: str) -> None:
    made = raytracer.bench(
        "build", scene=["lattice", "overlap"], size=[3, 20_000], backend=cuda, min_time=1e-3
    )
    for op in ("build ladder", "build rays"):
        results = [result for result in made["results"] if result["op"] == op]
        assert len(results) == 4
        for result in results:
            assert [row["label"] for row in result["rows"]] == [each.label for each in RUNGS]
            assert [(row["status"], row["reason"]) for row in result["rows"]] == [("ok", "")] * 4


@pytest.mark.gpu
def test_a_tree_that_loses_a_sphere_is_reported(cuda: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def of_others(records: Floats, rays: Floats) -> Any:
        moved = records.copy()
        moved[0, :3] += 1.0
        return search(moved, rays)

    monkeypatch.setattr(ray_search, "search", of_others)
    made = raytracer.bench(
        "build", variant="01", scene="uniform", size=100, backend=cuda, min_time=1e-3
    )
    assert {row["status"] for result in made["results"] for row in result["rows"]} == {"wrong"}
