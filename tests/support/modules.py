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
DYNAMIC = {"import_module", "__import__"}


def sources() -> Iterator[Path]:
    """Every module of the package; the kernels and scenes beside them are no modules."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.relative_to(PACKAGE).parts[0] not in ("kernels", "scenes"):
            yield path


def name_of(path: Path) -> str:
    """The full name of a module: "raytracer.scene.load"; of a package that of its folder."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(("raytracer", *(part for part in parts if part != "__init__")))


@cache
def parsed(path: Path) -> ast.Module:
    """A source as a tree."""
    return ast.parse(path.read_text(encoding="utf-8"))


def imports_of(package: str, source: ast.Module) -> set[str]:
    """Full names of what a module of a package may import when it runs, from its source.

    Imports inside functions count, those for the type checker alone do not. A module that imports
    by a name that it computes counts as importing every module that a string of it names.
    """
    found = _Imports(package)
    found.visit(source)
    return found.names | (found.texts if found.dynamic else set())


class _Imports(ast.NodeVisitor):
    def __init__(self, package: str) -> None:
        self.names: set[str] = set()
        self.texts: set[str] = set()
        self.dynamic = False
        self._package = package

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test) != "TYPE_CHECKING":
            self.generic_visit(node)
        else:
            for each in node.orelse:
                self.visit(each)

    def visit_Import(self, node: ast.Import) -> None:
        self.names |= {alias.name for alias in node.names}

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        parts = self._package.split(".")
        above = parts[: len(parts) + 1 - node.level] if node.level else ()
        base = ".".join(part for part in (*above, node.module) if part)
        self.names |= {f"{base}.{alias.name}" for alias in node.names}

    def visit_Call(self, node: ast.Call) -> None:
        called = node.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        self.dynamic |= name in DYNAMIC
        self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """f"{__name__}.{name}" and f"raytracer.folder.{name}" are any module of that folder."""
        text = ast.unparse(node)[2:-1].replace("{__name__}", self._package)
        if text.endswith(".{name}"):
            self.texts.add(text.replace("{name}", "*"))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str) and _MODULE.fullmatch(node.value):
            self.texts.add(f"{self._package}{node.value}" if node.value[0] == "." else node.value)


def _package_of(path: Path) -> str:
    return ".".join(("raytracer", *path.relative_to(PACKAGE).parent.parts))


@cache
def graph() -> dict[str, set[str]]:
    """Each module of the package and those of the package that it imports."""
    paths = {name_of(path): path for path in sources()}
    return {
        name: {
            target
            for imported in imports_of(_package_of(path), parsed(path))
            for target in _modules(imported, paths)
            if target != name
        }
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


def circles(arrows: Mapping[str, set[str]]) -> list[list[str]]:
    """The groups of modules that reach each other, each sorted (Tarjan 1972)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for target in arrows[name]:
            if target not in index:
                visit(target)
                low[name] = min(low[name], low[target])
            elif target in stack:
                low[name] = min(low[name], index[target])
        if low[name] == index[name]:
            group = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(group) > 1:
                found.append(sorted(group))

    for name in arrows:
        if name not in index:
            visit(name)
    return sorted(found)
