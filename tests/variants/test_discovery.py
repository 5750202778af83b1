"""Variants are found, read, refused with one clear sentence, and matched to architectures."""

from __future__ import annotations

from pathlib import Path

import pytest

from raytracer.variants import (
    LADDERS,
    PRODUCT,
    VariantError,
    discover,
    flags_of,
    operations,
    preferred,
    product,
    products,
)
from raytracer.variants.header import KEYS

HEADER = {
    "title": "One thread a pixel",
    "idea": "the simplest thing that works",
    "block": "8x8",
    "needs": "sm_80+",
    "source": "own",
}
SUM = f"{LADDERS}/sum"
ARCHITECTURES = ("sm_80", "sm_90a", "sm_120")


def write(folder: Path, file_name: str, /, *includes: str, **changes: str | None) -> Path:
    """Write a variant with the header above; a key set to None is left out."""
    header = {**HEADER, **changes}
    lines = [f"// {key}: {value}" for key, value in header.items() if value is not None]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / file_name
    code = [*(f"#include {name}" for name in includes or ["<none.h>"]), "// block: 1", ""]
    path.write_text("\n".join([*lines, *code]), encoding="utf-8")
    return path


def message(root: Path, op: str = "sum") -> str:
    """The sentence with which discover refuses."""
    with pytest.raises(VariantError) as caught:
        discover(op, root)
    return str(caught.value)


def test_reads_every_field(tmp_path: Path) -> None:
    path = write(tmp_path / SUM, "07_warp_tiles.cu", block="32 x 4", needs="sm_90a, sm_120+")
    (variant,) = discover("sum", tmp_path)
    assert (variant.op, variant.number, variant.name) == ("sum", 7, "warp_tiles")
    assert variant.label == "07_warp_tiles"
    assert (variant.title, variant.idea, variant.source) == (
        "One thread a pixel",
        "the simplest thing that works",
        "own",
    )
    assert variant.block == (32, 4, 1)
    assert [str(requirement) for requirement in variant.needs] == ["sm_90a", "sm_120+"]
    assert variant.path == path
    assert variant.code == path.read_text(encoding="utf-8")


def test_sorts_by_number_and_skips_other_files(tmp_path: Path) -> None:
    for name in ("10_last.cu", "02_second.cu", "01_first.cu"):
        write(tmp_path / SUM, name)
    (tmp_path / SUM / "sum.h").write_text("no variant")
    assert [v.label for v in discover("sum", tmp_path)] == ["01_first", "02_second", "10_last"]


def test_a_value_goes_on_over_indented_lines(tmp_path: Path) -> None:
    write(
        tmp_path / SUM,
        "01_a.cu",
        idea="each warp\n//       takes a row\n// remark without key",
    )
    (variant,) = discover("sum", tmp_path)
    assert variant.idea == "each warp takes a row"


def test_operations_are_the_folders_with_variants(tmp_path: Path) -> None:
    write(tmp_path / SUM, "01_a.cu")
    write(tmp_path / LADDERS / "dot", "01_a.cu")
    (tmp_path / LADDERS / "core").mkdir()
    (tmp_path / LADDERS / "README.md").write_text("no folder")
    assert operations(tmp_path) == ["dot", "sum"]


@pytest.mark.parametrize(
    ("needs", "admitted"),
    [
        ("sm_80+", {"sm_80", "sm_90a", "sm_120"}),
        ("sm_90+", {"sm_90a", "sm_120"}),
        ("sm_90a", {"sm_90a"}),
        ("sm_90", set()),
        ("sm_100f", set()),
        ("sm_80, sm_120", {"sm_80", "sm_120"}),
    ],
)
def test_admits(tmp_path: Path, needs: str, admitted: set[str]) -> None:
    write(tmp_path / SUM, "01_a.cu", needs=needs)
    (variant,) = discover("sum", tmp_path)
    assert {arch for arch in ARCHITECTURES if variant.admits(arch)} == admitted


@pytest.mark.parametrize("file_name", ["1_a.cu", "01-a.cu"])
def test_refuses_a_bad_file_name(tmp_path: Path, file_name: str) -> None:
    write(tmp_path / SUM, file_name)
    assert message(tmp_path).startswith(f"kernels/{SUM}/{file_name}: a variant's file is called")


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        *((key, value, f"the header lacks a value for {key!r}") for key in KEYS
          for value in (None, "")),
        *(("block", value, f"block {value!r} is not a thread block")
          for value in ("8x", "8x8x8x8", "33x32")),
        *(("needs", value, "is not an architecture") for value in ("80", "sm_90a+")),
        ("best", "sometimes", "does not name sizes"),
        ("best", "n", "does not name sizes"),
        ("sizes", "even", "give any"),
    ],
)  # fmt: skip
def test_refuses_bad_values(tmp_path: Path, key: str, value: str | None, words: str) -> None:
    write(tmp_path / SUM, "01_a.cu", **{key: value})
    assert message(tmp_path).startswith(f"kernels/{SUM}/01_a.cu: ")
    assert words in message(tmp_path)


def test_refuses_unknown_and_repeated_keys(tmp_path: Path) -> None:
    path = write(tmp_path / SUM, "01_a.cu", idea="x\n// blocks: 3")
    assert message(tmp_path).startswith(f"kernels/{SUM}/01_a.cu, line 3: unknown key 'blocks'")
    path.unlink()
    write(tmp_path / SUM, "01_a.cu", idea="x\n// idea: y")
    assert message(tmp_path).startswith(f"kernels/{SUM}/01_a.cu, line 3: 'idea' occurs twice")


def test_every_variant_of_the_package_is_sound() -> None:
    """Each can be compiled for at least one architecture that the checks compile for."""
    found = [variant for op in operations() for variant in discover(op)]
    assert "render" in operations()
    for kernel in [*products(), *found]:
        assert any(kernel.admits(arch) for arch in ARCHITECTURES), kernel.path


@pytest.mark.parametrize(
    ("n", "dtype", "order"),
    [(2, "float32", [2, 3, 1]), (8, "float32", [1, 3, 2]), (8, "float64", [3, 2, 1]),
     (4, "float64", [1, 3, 2])],
)  # fmt: skip
def test_the_rung_whose_header_names_the_sizes_comes_first(
    tmp_path: Path, n: int, dtype: str, order: list[int]
) -> None:
    folder = tmp_path / SUM
    write(folder, "01_a.cu", best="n 8 16 float32, n 4")
    write(folder, "02_b.cu", best="n 2")
    write(folder, "03_c.cu")
    found = preferred(discover("sum", tmp_path), {"n": n}, dtype)
    assert [each.number for each in found] == order


FUSED = "--fmad=false"


def test_kernels_of_the_product_are_read_by_name(tmp_path: Path) -> None:
    path = write(tmp_path / PRODUCT, "draw.cu", grid="ceil(n / 64)", flags="--fmad=false")
    kernel = product("draw", tmp_path)
    assert (kernel.name, kernel.path, kernel.flags) == ("draw", path, (FUSED,))
    assert kernel.place == "kernels/cuda/draw.cu"
    assert kernel.launch({"n": 65}, 1).grid == (2, 1, 1)
    assert products(tmp_path) == [kernel]
    with pytest.raises(VariantError, match="no kernel 'drwa' in kernels/cuda; did you mean 'draw'"):
        product("drwa", tmp_path)


def test_a_rung_that_is_a_production_kernel(tmp_path: Path) -> None:
    made = write(tmp_path / PRODUCT, "draw.cu", title="Theirs", flags=f"{FUSED} --maxrregcount=64")
    header = {**dict.fromkeys(HEADER), "idea": "own", "product": "draw"}
    include = '"../../cuda/draw.cu"'
    path = write(tmp_path / SUM, "01_a.cu", include, **header)
    (rung,) = discover("sum", tmp_path)
    assert (rung.title, rung.idea, rung.block) == ("Theirs", "own", (8, 8, 1))
    assert rung.flags == flags_of(path, tmp_path) == (FUSED, "--maxrregcount=64")
    assert (rung.path, rung.translation_unit) == (path, made)
    write(tmp_path / SUM, "01_a.cu", **header)
    assert f"its only line of code is #include {include}, and it has no" in message(tmp_path)
    write(tmp_path / SUM, "01_a.cu", include, **header, flags="-O2")
    assert f"its only line of code is #include {include}, and it has no" in message(tmp_path)
    write(tmp_path / SUM, "01_a.cu", **{**header, "product": "drawn"})
    assert message(tmp_path) == "there is no kernel 'drawn' in kernels/cuda; did you mean 'draw'?"


@pytest.mark.parametrize("flags", ["-fmad=false", "--include=x.h", "-O0", "--fmad=a b"])
def test_refuses_flags_that_a_cubins_key_does_not_cover(tmp_path: Path, flags: str) -> None:
    path = write(tmp_path / SUM, "01_a.cu", flags=flags)
    assert "give options of nvcc out of --fmad" in message(tmp_path)
    with pytest.raises(VariantError, match=r"01_a\.cu: flags"):
        flags_of(path, tmp_path)


def test_what_renders_rounds_as_the_cpu_does() -> None:
    """The pictures of CPU and GPU agree only if no multiply-add is fused unasked."""
    ours = [*products(), *discover("render"), *discover("tone")]
    assert {kernel.place for kernel in ours if kernel.flags != (FUSED,)} == set()
