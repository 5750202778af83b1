"""Occupancy against values by hand, by the rules of NVIDIA's calculator."""

import json
from pathlib import Path
from typing import Any

import pytest

import raytracer
from raytracer.benchmark import record
from raytracer.benchmark.occupancy import LIMITS, occupancy
from raytracer.commands.cli import main

KIB = 1 << 10
CASES = [
    # capability, registers, shared bytes, threads: blocks, warps, limits
    ("9.0", 32, 0, 256, 8, 64, "warps registers"),
    ("9.0", 16, 0, 32, 32, 32, "blocks"),
    # 255 registers: 8,192 of a warp, so two warps of each of the four schedulers
    ("9.0", 255, 0, 128, 2, 8, "registers"),
    # 33 registers: 1,280 of a warp in units of 256; 12 of a scheduler, 48 in all, three blocks
    ("9.0", 33, 0, 512, 3, 48, "registers"),
    # 227 KiB, the most of a block, and 1 KiB of CUDA fill the 228 KiB
    ("9.0", 168, 227 * KIB, 384, 1, 12, "registers shared memory"),
    ("9.0", 32, 75 * KIB, 128, 3, 12, "shared memory"),  # 228 / 76
    ("9.0", 32, 75 * KIB + 1, 128, 2, 8, "shared memory"),
    ("8.0", 64, 0, 1024, 1, 32, "registers"),  # 2,048 of a warp: 32 warps
    ("8.6", 40, 40 * KIB, 128, 2, 8, "shared memory"),  # 100 / 41
    ("8.6", 40, 0, 1024, 1, 32, "warps registers"),  # 48 warps: one block of 32
    ("8.9", 32, 0, 64, 24, 48, "warps blocks"),
    ("7.5", 40, 0, 256, 4, 32, "warps"),
    ("7.5", 32, 32 * KIB, 64, 2, 4, "shared memory"),  # nothing is reserved
    ("12.0", 32, 0, 96, 16, 48, "warps"),
    ("9.0", 32, 0, 33, 32, 64, "warps blocks registers"),  # two warps: the second has one thread
    # 24 warps of 96 registers (3,072 of a warp): 5 of a scheduler are 20, and no block fits
    ("9.0", 96, 0, 768, 0, 0, "registers"),
]


@pytest.mark.parametrize(
    ("capability", "registers", "shared", "threads", "blocks", "warps", "limits"), CASES
)
def test_occupancy_by_hand(
    capability: str, registers: int, shared: int, threads: int, blocks: int, warps: int, limits: str
) -> None:
    found = occupancy(registers, shared, threads, LIMITS[capability])
    assert (found.blocks, found.warps) == (blocks, warps)
    names = {"shared memory": "shared memory" in limits} | {
        name: name in limits.split() for name in ("registers", "warps", "blocks")
    }
    assert {name: name in found.limited_by for name in names} == names
    assert found.share == warps / LIMITS[capability].warps


def made(capability: str = "9.0", backend: str = "cuda") -> Any:
    rows = []
    for label, used in {
        "01_full": {"registers": 32, "shared": 0, "threads": 256, "dynamic_shared": 0},
        "02_tiles": {"registers": 128, "shared": 1024, "threads": 128, "dynamic_shared": 75 * KIB},
        "03_spills": {"registers": 255, "shared": 0, "threads": 128, "spilled": 1600},
        "04_old": {"registers": 20, "shared": 0},
    }.items():
        rows.append(record.row(label) | {"resources": used})
    result = record.result("matmul", {"n": 1024}, rows, "cold", "normal")  # type: ignore[arg-type]
    return {
        "format": 1, "date": "today", "command": "", "backend": backend,
        "device": {"device": "a GPU", "compute_capability": capability}, "why_no_gpu": "",
        "compiler": "", "kernel_digest": "", "load_average": 0, "versions": {}, "results": [result],
    }  # fmt: skip


def test_words() -> None:
    assert raytracer.explain_record(made()).splitlines() == [
        "matmul (n 1024): occupancy of a multiprocessor",
        "  01_full: 8 blocks of 256 threads, 64 of 64 warps (100%); full",
        "  02_tiles: 2 blocks of 128 threads, 8 of 64 warps (12%); limited by shared memory "
        "(77,824 bytes per block)",
        "  03_spills: 2 blocks of 128 threads, 8 of 64 warps (12%); limited by registers "
        "(255 per thread); spills 1,600 bytes of registers to local memory",
        "  04_old: unknown, the record does not have the threads of a block",
    ]


@pytest.mark.parametrize(
    ("made_of", "words"),
    [
        ({"backend": "cpu"}, "occupancy is a property of kernels on a GPU: this record is of the"),
        ({"capability": "99.9"}, "and not of 99.9"),
    ],
)
def test_what_is_not_known_is_said(made_of: Any, words: str) -> None:
    assert words in raytracer.explain_record(made(**made_of))


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = tmp_path / "a.json"
    saved.write_text(json.dumps(made()))
    assert main(["bench", str(saved), "--explain"]) == 0
    assert "01_full: 8 blocks" in capsys.readouterr().out
    assert main(["bench", str(saved), "--explain", "--format", "json"]) == 2
    assert "--format json has no place for" in capsys.readouterr().err
    words = ["bench", "tone", "--axis", "width=64", "--min-time", "0.002", "--backend", "cpu"]
    assert main([*words, "--explain"]) == 0
    assert "this record is of the CPU" in capsys.readouterr().out
