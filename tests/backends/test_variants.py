"""Variants are found, read, refused, matched to architectures; arithmetic of their launches."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raytracer.backends.kernel_sources import (
    LADDERS,
    PRODUCT,
    REQUIRED,
    LaunchConfiguration,
    VariantError,
    discover_variants,
    evaluate_whole_numbers,
    list_operations,
    parse_flags,
    read_production_kernel,
    read_production_kernels,
    sort_by_preference,
)
from raytracer.benchmark.benchmark import list_names, matching

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
        discover_variants(op, root)
    return str(caught.value)


def test_a_folder_is_an_operation_with_variants_by_number(tmp_path: Path) -> None:
    write(tmp_path / SUM, "10_last.cu", maps="a 64x64 swizzle128, b 8x32")
    write(tmp_path / SUM, "01_first.cu", block="32 x 4", idea="each warp\n//       takes a row")
    (tmp_path / SUM / "sum.h").write_text("no variant")
    (tmp_path / LADDERS / "core").mkdir()
    assert list_operations(tmp_path) == ["sum"]
    first, last = discover_variants("sum", tmp_path)
    assert (first.label, last.label) == ("01_first", "10_last")
    assert (first.op, first.idea, first.block) == ("sum", "each warp takes a row", (32, 4, 1))
    assert [(each.array, each.cols, each.swizzle) for each in last.maps] == [
        ("a", 64, 128),
        ("b", 32, 0),
    ]
    write(tmp_path / SUM, "01-a.cu")
    assert message(tmp_path).startswith(f"kernels/{SUM}/01-a.cu: a variant's file is called")


@pytest.mark.parametrize(
    ("needs", "admitted"),
    [
        ("sm_80+", {"sm_80", "sm_90a", "sm_120"}),
        ("", set(ARCHITECTURES)),
        ("sm_90+", {"sm_90a", "sm_120"}),
        ("sm_90a", {"sm_90a"}),
        ("sm_90", set()),
        ("sm_100f", set()),
        ("sm_80, sm_120", {"sm_80", "sm_120"}),
    ],
)
def test_admits(tmp_path: Path, needs: str, admitted: set[str]) -> None:
    write(tmp_path / SUM, "01_a.cu", needs=needs)
    (variant,) = discover_variants("sum", tmp_path)
    assert {arch for arch in ARCHITECTURES if variant.admits(arch)} == admitted


def test_launch_of_a_variant(tmp_path: Path) -> None:
    more = {"grid": "ceil(n / block), 2", "shared": "4 * block", "layout": "b_rows"}
    write(tmp_path / SUM, "01_a.cu", block="16x8", **more)
    (found,) = discover_variants("sum", tmp_path)
    assert (found.threads, found.layout) == (128, "b_rows")
    assert found.configure_launch({"n": 129}, 132) == LaunchConfiguration(
        (2, 2, 1), 512, (16, 8, 1)
    )
    assert found.configure_launch({"n": 1}, 1).grid == (1, 2, 1)
    with pytest.raises(VariantError, match=r"grid \(2147483648, 2\) .* is not a valid launch"):
        found.configure_launch({"n": 2**38}, 132)


def test_a_letter_is_between_two_numbers(tmp_path: Path) -> None:
    for name in ("03_c.cu", "02b_wide.cu", "02_a.cu"):
        write(tmp_path / SUM, name)
    found = discover_variants("sum", tmp_path)
    assert [each.label for each in found] == ["02_a", "02b_wide", "03_c"]
    assert [each.label for each in sort_by_preference(found, {}, "float32")] == [
        "03_c",
        "02b_wide",
        "02_a",
    ]
    for word in ("2b", "02b", "wide", "02b_wide"):
        assert matching(found, [word], list_names, "sum") == [found[1]]
    assert matching(found, ["2"], list_names, "sum") == [found[0]]


def test_steps_of_a_variant(tmp_path: Path) -> None:
    write(tmp_path / SUM, "01_a.cu", grid="1", steps="3", scratch="8 * n")
    write(tmp_path / SUM, "02_b.cu", grid="1")
    chain, single = discover_variants("sum", tmp_path)
    assert chain.entries == ["sum", "sum_2", "sum_3"]
    assert single.entries == ["sum"]
    assert [each.configure_launch({"n": 5}, 1).scratch for each in (chain, single)] == [40, 0]


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
    found = sort_by_preference(discover_variants("sum", tmp_path), {"n": n}, dtype)
    assert [each.number for each in found] == order


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        *((key, None, f"the header lacks a value for {key!r}") for key in REQUIRED),
        *(("block", value, f"block {value!r} is not a thread block") for value in ("8x", "33x32")),
        *(("needs", value, "is not an architecture") for value in ("80", "sm_90a+")),
        *(("maps", each, "is not a tensor map") for each in ("a 64", "a 8x8 swizzle16")),
        ("idea", "x\n// blocks: 3", "line 3: unknown key 'blocks'"),
        ("idea", "x\n// idea: y", "line 3: 'idea' occurs twice"),
        ("steps", "1", "is no number of kernels: give 2 to 9"),
        ("flags", "--include=x.h", "give options of nvcc out of --fmad"),
    ],
)
def test_refuses_bad_values(tmp_path: Path, key: str, value: str | None, words: str) -> None:
    path = write(tmp_path / SUM, "01_a.cu", **{key: value})
    assert message(tmp_path).startswith(f"kernels/{SUM}/01_a.cu")
    assert words in message(tmp_path)
    if key == "flags":
        with pytest.raises(VariantError, match=words):
            parse_flags(path)


FUSED = "--fmad=false"


def test_kernels_of_the_product_are_read_by_name(tmp_path: Path) -> None:
    path = write(tmp_path / PRODUCT, "draw.cu", grid="ceil(n / 64)", flags="--fmad=false")
    kernel = read_production_kernel("draw", tmp_path)
    assert (kernel.name, kernel.path, kernel.flags) == ("draw", path, (FUSED,))
    assert kernel.place == "kernels/cuda/draw.cu"
    assert kernel.configure_launch({"n": 65}, 1).grid == (2, 1, 1)
    assert read_production_kernels(tmp_path) == [kernel]
    with pytest.raises(VariantError, match="no kernel 'drwa' in kernels/cuda; did you mean 'draw'"):
        read_production_kernel("drwa", tmp_path)


def test_a_rung_that_is_a_production_kernel(tmp_path: Path) -> None:
    made = write(tmp_path / PRODUCT, "draw.cu", title="Theirs", flags=f"{FUSED} --maxrregcount=64")
    lines = ["// idea: own", "// product: draw", ""]
    path = tmp_path / SUM / "01_a.cu"
    path.parent.mkdir(parents=True)
    path.write_text("\n".join(lines))
    (rung,) = discover_variants("sum", tmp_path)
    assert (rung.title, rung.idea, rung.block) == ("Theirs", "own", (8, 8, 1))
    assert rung.flags == (FUSED, "--maxrregcount=64")
    assert (rung.path, rung.translation_unit) == (path, made)
    for more in ("int x;\n", "// flags: --ftz=true\n"):
        path.write_text("\n".join(lines) + more)
        assert "is that kernel: it has no code and no" in message(tmp_path)
    path.write_text("// product: drawn\n")
    assert message(tmp_path) == "there is no kernel 'drawn' in kernels/cuda; did you mean 'draw'?"


def test_what_renders_rounds_as_the_cpu_does() -> None:
    """The pictures of CPU and GPU agree only if no multiply-add is fused unasked."""
    ours = [*read_production_kernels(), *discover_variants("render"), *discover_variants("tone")]
    assert {kernel.place for kernel in ours if kernel.flags != (FUSED,)} == set()


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("7", (7,)),
        ("ceil(n / 128), ceil(m / 64)", (8, 1)),
        ("min(ceil(n / 256), 16 * sm), max(m, 3), 1", (4, 33, 1)),
        ("floor(n / 3) - -1", (334,)),
        ("4 * (n // 7 + 2)", (576,)),
        ("n * n * n * n", (10**12,)),
    ],
)
def test_values(text: str, values: tuple[int, ...]) -> None:
    assert evaluate_whole_numbers(text, {"n": 1000, "m": 33, "sm": 132}) == values


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("n / 3", "not a whole number"),
        ("", "not understood"),
        ("n / (m - m)", "divides by zero"),
        ("'os'", "not understood"),
        ("k + 1", "'k' is not one of n, m"),
        ("ceil(1, 2)", "not understood"),
        ("1e999", "not understood"),
        ("9**9**9**9", r"has \+ - \* / //, ceil, floor, max, min"),
        ("n << 99999999", "not understood"),
        ("max((1, 1) * 999999999)", "not understood"),
        ("max(1 for a in (1, 2) for b in (1, 2))", "not understood"),
        ("n.real", "not understood"),
        ("max()", "not understood"),
        ("True", "not understood"),
        ("1), (2", "not understood"),
        ("9" * 1001, "has 1,001 letters: at most 1000"),
        ("*".join(["n"] * 500), r"gives a number beyond 2\^63"),
        ("-" * 999 + "1", "not understood"),
        ("(" * 499 + "1" + ")" * 499, "not understood"),
    ],
)
def test_refused(text: str, words: str) -> None:
    with pytest.raises(VariantError, match=words):
        evaluate_whole_numbers(text, {"n": 1000, "m": 33})


@given(st.integers(1, 2**60), st.integers(1, 2**20))
def test_division_is_exact_at_any_size(n: int, tile: int) -> None:
    assert evaluate_whole_numbers(f"ceil(n / {tile})", {"n": n}) == (-(-n // tile),)
