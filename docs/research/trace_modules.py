"""Prints the modules of `raytracer` that a render enters, from the command line to the PNG.

    python docs/research/trace_modules.py [FILE] [options of `raytracer render`]

A module is entered when one of its functions is called from another module, on the main thread.
Not counted are module bodies, calls made while modules are imported, and code that `dataclass`
generates. A module is on the path of the data if one of its functions takes, as an argument or as
`self`, the content of the scene file or an object that the scene becomes on its way (`DATA`); the
others check, format or look up single values.
"""

from __future__ import annotations

import inspect
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import raytracer

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = f"{Path(raytracer.__file__).parent}/"

DATA = {
    "OpenFile": "file",
    "Scene": "scene",
    "SphereSet": "scene",
    "SceneBuffers": "buffers",
    "Bvh": "buffers",
    "DeviceScene": "buffers",
    "View": "view",
    "Film": "film",
    "DeviceFilm": "film",
    "Image": "image",
}
"""Classes of `raytracer` that hold the scene, and the stage of the path that they belong to."""

CHECKS = ("field_types",)
"""Modules that only check data; `scene.key_types` also makes objects of the tables of a file."""

STAGES = ("file", "scene", "buffers", "view", "film", "image")


@dataclass
class Entry:
    """A module that was entered.

    Args:
        calls: how often one of its functions was called from another module.
        stages: the kinds of data that its functions took.
        hands_on: the modules to which its functions passed data on.
    """

    calls: int = 0
    stages: set[str] = field(default_factory=set)
    hands_on: set[str] = field(default_factory=set)


class Trace:
    """The modules that were entered, in the order in which that happened first.

    Args:
        content: bytes of the scene file.
    """

    def __init__(self, content: bytes = b"") -> None:
        self.entries: dict[str, Entry] = {}
        self.functions: Counter[tuple[str, str]] = Counter()
        self._content = content
        self._text = content.decode("utf-8", "replace")
        try:
            self._table: dict[str, Any] | None = tomllib.loads(self._text)
        except tomllib.TOMLDecodeError:
            self._table = None
        self._modules: dict[str, str] = {}

    @property
    def path(self) -> list[str]:
        """The modules on the path of the data."""
        return [n for n, entry in self.entries.items() if entry.stages and n not in CHECKS]

    @property
    def helpers(self) -> list[str]:
        """The other modules that were entered."""
        return [name for name in self.entries if name not in self.path]

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """Take an event of `sys.setprofile`."""
        code = frame.f_code
        module = self._module(code) if event == "call" else ""
        if not module or not code.co_flags & inspect.CO_OPTIMIZED:  # the body of a class
            return
        caller, importing = self._caller(frame)
        if importing:
            return
        values = [*_arguments(frame)]
        stages = {stage for value in values if (stage := self._stage(value))}
        self.functions[module, code.co_qualname] += 1
        if module != caller or module not in self.entries:
            self.entries.setdefault(module, Entry()).calls += 1
            others = values[1:] if code.co_varnames[:1] == ("self",) else values
            if caller in self.entries and module not in CHECKS and any(map(self._stage, others)):
                self.entries[caller].hands_on.add(module)
        self.entries[module].stages |= stages

    def _module(self, code: CodeType) -> str:
        """The module of the package that holds some code; "" for others and for module bodies."""
        known = self._modules.get(code.co_filename)
        if known is None:
            name = code.co_filename.removeprefix(PACKAGE)
            inside = name != code.co_filename and name.endswith(".py")
            known = name.removesuffix(".py").replace("/", ".") if inside else ""
            self._modules[code.co_filename] = known
        return known if code.co_name != "<module>" else ""

    def _caller(self, frame: FrameType) -> tuple[str, bool]:
        """The nearest calling module of the package, and whether a module is being imported."""
        caller, outer = "", frame.f_back
        while outer is not None:
            if outer.f_code.co_name == "<module>" and outer.f_globals.get("__name__") != "__main__":
                return caller, True
            caller = caller or self._module(outer.f_code)
            outer = outer.f_back
        return caller, False

    def _stage(self, value: Any) -> str:
        """The stage of the path that a value belongs to; "" for other values."""
        kind = type(value)
        for each in kind.__mro__:
            if each.__module__.startswith("raytracer") and each.__name__ in DATA:
                return DATA[each.__name__]
        if kind in (list, tuple) and value:
            return self._stage(value[0])
        if kind is dict and value and value == self._table:
            return "file"
        if (kind is bytes and value == self._content) or (kind is str and value == self._text):
            return "file"
        if kind.__module__ != "numpy" or kind.__name__ != "ndarray":
            return ""
        is_picture = value.ndim == 3 and value.shape[2] in (3, 4) and value.dtype.kind == "u"
        return "image" if is_picture else ""


def _arguments(frame: FrameType) -> Iterator[Any]:
    """Yield the values of a function's arguments when it is called."""
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    values = frame.f_locals
    for name in code.co_varnames[:count]:
        if name in values:
            yield values[name]


def trace(arguments: Sequence[str], content: bytes = b"") -> Trace:
    """Run `raytracer` with some arguments and return the modules that were entered.

    Args:
        arguments: of the command line.
        content: bytes of the scene file.
    """
    from raytracer.commands.cli import main

    entered = Trace(content)
    sys.setprofile(entered)
    try:
        code = main(list(arguments))
    finally:
        sys.setprofile(None)
    if code:
        raise SystemExit(code)
    return entered


def trace_render(scene: Path, *options: str) -> Trace:
    """Render a scene file on the CPU to a small picture; return the modules that were entered."""
    with tempfile.TemporaryDirectory() as folder:
        picture = str(Path(folder) / "picture.png")
        small = ["--width", "64", "--height", "64", "--samples", "1", "--backend", "cpu", "--quiet"]
        arguments = ["render", str(scene), *small, *options, "--output", picture]
        return trace(arguments, scene.read_bytes())


def main() -> None:
    """Print the modules on the path of the data, the helpers, and how many of each."""
    scene, *options = sys.argv[1:] or [str(ROOT / "scenes" / "three_balls.toml")]
    verbose = "--functions" in options
    entered = trace_render(Path(scene), *(o for o in options if o != "--functions"))
    print("first  module                   calls  data                  passed on to")
    for number, (name, entry) in enumerate(entered.entries.items(), 1):
        stages = ", ".join(stage for stage in STAGES if stage in entry.stages) or "-"
        print(
            f"{number:5}  {name:34} {entry.calls:6}  {stages:20} {' '.join(sorted(entry.hands_on))}"
        )
        if verbose:
            for (module, function), calls in entered.functions.items():
                if module == name:
                    print(f"{'':7}  {function} {calls}")
    steps = [name for name in entered.path if entered.entries[name].hands_on]
    units = list(dict.fromkeys(name.partition(".")[0] for name in entered.path))
    print(f"data passes through {len(units)} packages and modules of raytracer: {', '.join(units)}")
    print(f"{len(entered.entries)} modules: {len(entered.path)} take data, "
          f"{len(steps)} of them pass data on; {len(entered.helpers)} take none")  # fmt: skip


if __name__ == "__main__":
    main()
