"""Finding kernels in the folders of the sources."""

import re
from collections.abc import Iterator
from importlib.resources.abc import Traversable
from itertools import pairwise

from raytracer import resources
from raytracer.errors import suggestion
from raytracer.variants import header as headers
from raytracer.variants.kernel import LADDERS, PRODUCT, Kernel, Variant, VariantError

_FILE_NAME = re.compile(r"(\d\d)_([a-z0-9]+(?:_[a-z0-9]+)*)\.cu")


def discover(op: str, root: Traversable | None = None) -> list[Variant]:
    """Return the variants of an operation, by number; raise VariantError for invalid ones."""
    folder = _ladders(root).joinpath(op)
    if not folder.is_dir():
        hint = suggestion(op, operations(root))
        raise VariantError(f"there is no operation {op!r} with GPU variants; {hint}")
    variants = sorted((read(op, path, root) for path in _sources(folder)), key=lambda v: v.number)
    for first, second in pairwise(variants):
        if first.number == second.number:
            raise VariantError(f"{first.place} and {second.path.name} have the same number")
    return variants


def operations(root: Traversable | None = None) -> list[str]:
    """Return the operations with variants under kernels/ladders/, sorted."""
    ladders = _ladders(root)
    folders = ladders.iterdir() if ladders.is_dir() else ()
    return sorted(folder.name for folder in folders if any(_sources(folder)))


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
    header, kernel = headers.parse_header(text, place), None
    if name := header.get("product"):
        if "flags" in header or not all(line.startswith("//") for line in text.splitlines()):
            raise VariantError(
                f"{place}: a variant with `product: {name}` is that kernel: it has no code and no "
                "`flags:`"
            )
        kernel = product(name, root)
        header = headers.parse_header(kernel.code, kernel.place) | header
    return Variant(
        op=op,
        number=int(match[1]),
        name=match[2],
        path=path,
        product=kernel,
        **headers.fields(header, place),
        **headers.ladder_fields(header, place),
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
    header = headers.parse_header(path.read_text(encoding="utf-8"), place)
    return Kernel(name=name, path=path, **headers.fields(header, place))


def products(root: Traversable | None = None) -> list[Kernel]:
    """Return all production kernels, by name."""
    return [product(name, root) for name in _product_names(root)]


def flags_of(path: Traversable) -> tuple[str, ...]:
    """Return the options for nvcc in the header of a kernel."""
    header = headers.parse_header(path.read_text(encoding="utf-8"), path.name)
    return headers.flags(header, path.name)


def _product_names(root: Traversable | None) -> list[str]:
    folder = (root or resources.kernels()).joinpath(PRODUCT)
    return sorted(path.name.removesuffix(".cu") for path in _sources(folder))


def _ladders(root: Traversable | None) -> Traversable:
    return (root or resources.kernels()).joinpath(LADDERS)


def _sources(folder: Traversable) -> Iterator[Traversable]:
    paths = folder.iterdir() if folder.is_dir() else ()
    return (path for path in paths if path.name.endswith(".cu"))
