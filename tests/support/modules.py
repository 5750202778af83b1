"""The modules of the package and which imports which, read from the sources."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import raytracer

PACKAGE = Path(raytracer.__file__).parent
COMPILED = "raytracer._core"
_MODULE = re.compile(r"(raytracer)?(\.[a-z_]\w*)+")


def sources() -> Iterator[Path]:
    """Every module of the package; the kernels and scenes beside them are no modules."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.relative_to(PACKAGE).parts[0] not in ("kernels", "scenes"):
            yield path


def name_of(path: Path) -> str:
    """The full name of a module: "raytracer.scene_files.load"; of a package that of its folder."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(("raytracer", *(part for part in parts if part != "__init__")))


_parsed = cache(lambda path: ast.parse(path.read_text(encoding="utf-8")))


@cache
def imports(path: Path, for_types: bool = True) -> frozenset[str]:
    """Full names of all that a module imports, wherever in it.

    A module that imports by a name that it computes counts as importing every module that a string
    of it names; "raytracer.folder.*" is any of a folder.

    for_types: whether imports for the type checker alone count.
    """
    package = ".".join(("raytracer", *path.relative_to(PACKAGE).parent.parts))
    found, texts, is_dynamic, is_relative = set[str](), set[str](), False, False
    for node in _walk(_parsed(path), for_types):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            above = parts[: len(parts) + 1 - node.level] if node.level else ()
            base = ".".join(part for part in (*above, node.module) if part)
            found |= {f"{base}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.JoinedStr):
            text = ast.unparse(node)[2:-1].replace("{__name__}", package)
            if text.endswith(".{name}"):
                texts.add(text.replace("{name}", "*"))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if _MODULE.fullmatch(node.value):
                texts.add(node.value)
        elif isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            is_dynamic |= name in ("import_module", "__import__")
            is_relative |= name == "import_module" and len(node.args) > 1
    if is_dynamic:
        found |= {
            f"{package}{each}" if each[0] == "." else each
            for each in texts
            if is_relative or each[0] != "."
        }  # others that begin so are endings of files
    return frozenset(found)


def _walk(tree: ast.AST, for_types: bool) -> Iterator[ast.AST]:
    pending = [tree]
    while pending:
        node = pending.pop()
        yield node
        if not for_types and isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            pending += node.orelse
        else:
            pending += ast.iter_child_nodes(node)


@cache
def graph() -> dict[str, set[str]]:
    """Each module of the package and those of the package that it imports when it runs."""
    paths = {name_of(path): path for path in sources()}
    return {
        name: {target for each in imports(path, False) for target in _modules(each, paths)} - {name}
        for name, path in paths.items()
    }


def _modules(imported: str, known: Mapping[str, Path]) -> Iterator[str]:
    """The modules that an import of a name loads: itself, or the one that holds the name."""
    if imported.startswith(COMPILED):
        return  # it imports nothing of ours
    if imported.endswith(".*"):
        yield from (name for name in known if name.rpartition(".")[0] == imported[:-2])
    elif imported in known:
        yield imported
    elif (holder := imported.rpartition(".")[0]) in known:
        yield holder
