"""Finding kernels in the folders of the sources."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from raytracer import resources
from raytracer.errors import suggestion
from raytracer.variants.header import (
    KERNEL_KEYS,
    KEYS,
    LADDER_KEYS,
    fields,
    parse_best,
    parse_flags,
    parse_header,
    parse_maps,
    require,
)
from raytracer.variants.kernel import LADDERS, PRODUCT, Kernel, Variant, VariantError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.resources.abc import Traversable

MAX_STEPS = 9
AXES = "_xyz"  # end of the name of a folder with the variants of three operations

_FILE_NAME = re.compile(r"(\d\d)_([a-z0-9]+(?:_[a-z0-9]+)*)\.cu")


def discover(op: str, root: Traversable | None = None) -> list[Variant]:
    """Return the variants of an operation, by number; raise VariantError for invalid ones."""
    name = op[:-2] + AXES if op[-2:] in ("_x", "_y", "_z") else op
    folder = _ladders(root).joinpath(name)
    if not folder.is_dir():
        hint = suggestion(op, operations(root))
        raise VariantError(f"there is no operation {op!r} with GPU variants; {hint}")
    variants = sorted((read(op, path, root) for path in _sources(folder)), key=lambda v: v.number)
    for first, second in pairwise(variants):
        if first.number == second.number:
            raise VariantError(
                f"kernels/{LADDERS}/{op}: {first.path.name} and {second.path.name} have the same "
                "number; give one of them another"
            )
    return variants


def operations(root: Traversable | None = None) -> list[str]:
    """Return the operations with variants under kernels/ladders/, sorted.

    A folder has the name of its operation; variants in NAME_xyz have an entry for each of NAME_x,
    NAME_y and NAME_z.
    """
    ladders = _ladders(root)
    folders = ladders.iterdir() if ladders.is_dir() else ()
    names = [folder.name for folder in folders if any(_sources(folder))]
    ends = {True: [f"_{axis}" for axis in AXES[1:]], False: [""]}
    return sorted(
        name.removesuffix(AXES) + end for name in names for end in ends[name.endswith(AXES)]
    )


def read(op: str, path: Traversable, root: Traversable | None = None) -> Variant:
    """Read one variant from its file; raise VariantError for an invalid name or header."""
    place = f"kernels/{LADDERS}/{op}/{path.name}"
    match = _FILE_NAME.fullmatch(path.name)
    if match is None:
        raise VariantError(
            f"{place}: a variant's file is called NN_name.cu, with two digits and "
            "lower-case words joined by underscores"
        )
    text = path.read_text(encoding="utf-8")
    own = parse_header(text, place)
    header = _inherited(own, root)
    require(header, place)
    if header.get("steps", "1") not in map(str, range(1, MAX_STEPS + 1)):
        raise VariantError(f"{place}: steps {header['steps']!r}: give 1 to {MAX_STEPS}")
    if header.get("sizes", "any") != "any":
        raise VariantError(f"{place}: sizes {header['sizes']!r}: give any")
    ladder_fields: dict[str, Any] = {key: header[key] for key in LADDER_KEYS if header.get(key)}
    if "product" in own:
        ladder_fields["product"] = _required_product(own, text, place, root)
    return Variant(
        op=op,
        number=int(match[1]),
        name=match[2],
        path=path,
        maps=parse_maps(header.get("maps", ""), place),
        best=parse_best(header.get("best", ""), place),
        **fields(header, place),
        **ladder_fields,
    )


def product(name: str, root: Traversable | None = None) -> Kernel:
    """Return a production kernel by name, like "render_packet"; raise VariantError without one."""
    path = (root or resources.kernels()).joinpath(PRODUCT, f"{name}.cu")
    if not path.is_file():
        raise VariantError(
            f"there is no kernel {name!r} in kernels/{PRODUCT}; "
            f"{suggestion(name, _product_names(root))}"
        )
    place = f"kernels/{PRODUCT}/{path.name}"
    header = parse_header(path.read_text(encoding="utf-8"), place)
    require(header, place)
    if extra := [key for key in header if key not in (*KEYS, *KERNEL_KEYS)]:
        raise VariantError(f"{place}: {extra[0]!r} is a key of variants only; remove it")
    return Kernel(name=name, path=path, **fields(header, place))


def products(root: Traversable | None = None) -> list[Kernel]:
    """Return all production kernels, by name."""
    return [product(name, root) for name in _product_names(root)]


def flags_of(path: Traversable, root: Traversable | None = None) -> tuple[str, ...]:
    """Return the options for nvcc in the header of a kernel, or of the one that it names."""
    header = _inherited(parse_header(path.read_text(encoding="utf-8"), path.name), root)
    return parse_flags(header.get("flags", ""), path.name)


def _product_names(root: Traversable | None) -> list[str]:
    folder = (root or resources.kernels()).joinpath(PRODUCT)
    return sorted(path.name.removesuffix(".cu") for path in _sources(folder))


def _required_product(
    header: dict[str, str], text: str, place: str, root: Traversable | None
) -> Kernel:
    """Return the production kernel that a variant is.

    Raises:
        VariantError: the variant has code or options of its own.
    """
    name = header["product"]
    code = [line for line in text.splitlines() if line and not line.startswith("//")]
    include = f'#include "../../{PRODUCT}/{name}.cu"'
    if code != [include] or "flags" in header:
        raise VariantError(
            f"{place}: a variant with `product: {name}` is that kernel: its only line of code is "
            f"{include}, and it has no `flags:`"
        )
    return product(name, root)


def _inherited(header: dict[str, str], root: Traversable | None) -> dict[str, str]:
    """Add the keys of the production kernel that a header names and does not set itself."""
    if "product" not in header:
        return header
    kernel = product(header["product"], root)
    return parse_header(kernel.code, kernel.place) | header


def _ladders(root: Traversable | None) -> Traversable:
    return (root or resources.kernels()).joinpath(LADDERS)


def _sources(folder: Traversable) -> Iterator[Traversable]:
    paths = folder.iterdir() if folder.is_dir() else ()
    return (path for path in paths if path.name.endswith(".cu"))
