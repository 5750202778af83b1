"""Load scenes from scene files (.toml, .json) and particle files.

A scene file is parsed into plain values; names and types are checked; then the objects of the scene
are made, with defaults filled in and data files read.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from raytracer.appearance.coloring import OF_SETS
from raytracer.config.errors import (
    DataFileError,
    SceneError,
    UserError,
    prefix_errors,
    quote,
    suggest,
)
from raytracer.config.field_types import import_name
from raytracer.config.inferred import name_set
from raytracer.config.warning import collect_warnings, warn
from raytracer.files.access import (
    OpenFile,
    check_path,
    load_json,
    load_toml,
    open_file,
    translate_errors,
)
from raytracer.model.elements import Element, find_symbol, load_elements
from raytracer.model.key_types import PAIRS
from raytracer.model.particle_source import Particles
from raytracer.model.parts import ANNOTATIONS, GLYPHS
from raytracer.model.scene import PARTS, Scene
from raytracer.model.solids import SolidSet
from raytracer.model.sphere_set import SphereSet
from raytracer.particles.compressed import is_compressed, strip_endings
from raytracer.particles.names import complete_labels
from raytracer.particles.read import AllNames, Wanted, read
from raytracer.particles.registry import find_by_content, is_particles, read_start
from raytracer.scene_files.source import SCENE_SUFFIXES, InputSource, parse_ending
from raytracer.system.memory import require_room

if TYPE_CHECKING:
    from raytracer.appearance.coloring.style import SetStyle

Values = dict[str, Any]

TOML_MEMORY = 36  # most bytes of memory per byte of TOML, without the tables of its keys
JSON_MEMORY = 32  # most bytes of memory per byte of JSON
SMALL = 1 << 20  # size of a scene file that is read on any machine

_TOML = rb"""\s*(?:#[^\n]*\s+)*(?:\[\[?\s*["'\w]|["']?(?:\$schema|title|caption|spheres)\b)"""
"""The first line of a scene in TOML: a table, or a key outside of tables."""


def load(
    path: str | PathLike[str] | Sequence[str | PathLike[str]],
    frame: int | None = None,
    *,
    columns: Sequence[str] = (),
    format: str | None = None,  # noqa: A002
    topology: str | PathLike[str] | None = None,
    arrays: Mapping[str, str] | None = None,
) -> Scene:
    """Load a scene file or a particle file.

    Args:
        path: a scene file (.toml, .json), or a particle file (.npz, .csv, .xyz, .lammpstrj, ...;
            the guide lists all and their default look). A pattern such as `snap_*.h5` or
            `frame_%04d.xyz`, or a folder, is a series with one frame per file. A list of particle
            files is one scene with a sphere set per file; sets without colours get one each.
        frame: frame of a trajectory, from 0, or from -1 backwards. In a scene file it overrides the
            frame of each data file with several frames. None is the first one.
        columns: names of columns that will be needed. They are read together with the spheres;
            otherwise `Scene.columns` reads a text file a second time. Unknown columns are ignored.
        format: suffix of the format ("xyz"), if name and content of the file, or the content of
            standard input ("-"), do not determine it. None detects the format.
        topology: a file with the atoms of a trajectory that has only coordinates (.xtc, .dcd,
            .trr): .psf, .prmtop, .pdb, .gro, ... It gives the particles labels, bonds and columns.
        arrays: names of arrays or columns in a particle file, by "x", "y", "z", or "centers",
            "radius" or "diameter", "color", or "r", "g", "b": `{"x": "px", "radius": "rad"}`, as
            `arrays` in a scene file. None uses common names.

    Returns:
        The scene, with the arrays of all its data files.

    Raises:
        UserError: the file, or one of its data files, is missing or wrong; the message names file
            and field, with one line per problem.
    """
    if not isinstance(path, (list, tuple)):
        path = check_path(path)
    source = InputSource.of(path, frame=frame, format=format, topology=topology, arrays=arrays)
    return load_scene(source, source.frame, columns)


def load_scene(
    source: InputSource,
    frame: int | None = None,
    columns: Sequence[str] = (),
    place: int | None = None,
    beside: Sequence[InputSource] = (),
) -> Scene:
    """Read the scene of a file, or of several, with columns if the file has them.

    place: number of the file among several, from 0, for its colour; None if it is alone. beside:
    the sources of several.
    """
    if source.further:
        return _load_files(source, frame, columns)
    file = source.file(frame)
    with (
        open_file(file.path, error=SceneError, standard_input=True) as stream,
        prefix_errors(stream.source),
    ):
        suffix = scene_suffix(stream, file.ending)
        if suffix:
            for name, value in (("topology", file.topology), ("arrays", source.arrays)):
                if value:
                    raise UserError(
                        f"{name}: is for data; in a scene file, set {name} in [[spheres]]"
                    )
            if place is not None:
                raise UserError("is a scene; several files must all be data files: name them in "
                                "the [[spheres]] of the scene")  # fmt: skip
            values = read_table(stream, suffix)
            parts = check_parts(values, stream.source)
            return _Composer(parts, Path(stream.source), frame, columns).scene()
        if source.is_mesh:
            if place is None and (source.topology is not None or source.arrays):
                raise UserError("is a mesh: topology and columns are for particles")
            from raytracer.particles.frames import check_frame

            check_frame(file.frame or 0, 1, stream.source)
            return _load_mesh(file.path)
        from raytracer.scene_files.bare import (  # late: not for scene files
            particle_defaults,
            set_radii,
        )

        with name_set("spheres"):
            data = read(file, source.arrays, wanted=make_column_selector(columns), stream=stream,
                        all_names=_complete_labels(beside))  # fmt: skip
            if data.is_empty and (frame is None or source.count_frames() == 1):
                raise DataFileError(
                    f"{stream.source}: holds no particles, so there is nothing to show"
                )
            set_radii(data)
            color = None
            if place is not None and data.color is None:
                from raytracer.model.particle_labels import type_color

                color = type_color(place)
            spheres, shape = SphereSet.of_particles(data, color=color), None
        if data.may_be_ellipsoids:
            from raytracer.appearance.glyphs.shape import choose_default_shape

            shape = choose_default_shape(spheres)
        return Scene(
            spheres=(spheres,),
            shape=shape,
            title=strip_endings(file.path),
            source=stream.source,
            **particle_defaults(data),
        )


def _complete_labels(beside: Iterable[InputSource]) -> AllNames:
    """Return how the labels of a frame get those of the other frames, and of files beside it."""
    files = (each.file() for each in beside if not each.is_mesh)
    return partial(complete_labels, beside=files)


def _load_mesh(path: Path) -> Scene:
    """Return the scene of a mesh, with the defaults of particles; the camera frames all of it."""
    from raytracer.model.mesh import Mesh
    from raytracer.scene_files.bare import particle_defaults

    mesh = Mesh.from_file(path)
    defaults = particle_defaults(Particles(str(path), mesh.vertices))
    defaults["camera"] = replace(defaults["camera"], fit=True)
    return Scene(meshes=(mesh,), title=path.stem, source=str(path), **defaults)


def _load_files(source: InputSource, frame: int | None, columns: Sequence[str]) -> Scene:
    """Read the scene of several files; all but spheres and meshes is that of the first. Files with
    one frame stand still beside others. Raises UserError: their numbers of frames differ."""
    parts = source.split_files()
    frames: list[int | None] = [None] * len(parts)
    if frame is not None:
        from raytracer.particles.frames import check_frame

        counts = source.count_file_frames()
        number = check_frame(frame, max(counts), str(source.scene))
        frames = [number if count > 1 else None for count in counts]
    made = [load_scene(each, chosen, columns, place, parts)
            for place, (each, chosen) in enumerate(zip(parts, frames, strict=True))]  # fmt: skip
    from raytracer.appearance.columns import warn_of_units  # late: few calls have several files

    spheres = tuple(one for scene in made for one in scene.spheres)
    warn_of_units(spheres)
    meshes = tuple(one for scene in made for one in scene.meshes)
    return replace(made[0], spheres=spheres, meshes=meshes)


def scene_suffix(file: OpenFile, ending: str = "") -> str:
    """Return ".toml" or ".json" for a scene file, "" for particles.

    ending: stated by the user; "" decides by name, of standard input by content.
    """
    if ending or not file.is_standard_input:
        suffix = ending or file.path.suffix.lower()
        if suffix == ".json" and not ending and is_particles(read_start(file)):
            return ""
        return suffix if suffix in SCENE_SUFFIXES else ""
    start = read_start(file)
    if is_compressed(start) or find_by_content(start):
        return ""
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    return ".json" if text.startswith(b"{") else ".toml" if re.match(_TOML, text) else ""


def is_scene(path: Path) -> bool:
    """Whether a file is a scene by its name; for .json by its content."""
    suffix = path.suffix.lower()
    if suffix != ".json":
        return suffix in SCENE_SUFFIXES
    try:
        with open_file(path) as file:
            return bool(scene_suffix(file))
    except UserError:  # its reader reports the error
        return True


def read_table(file: OpenFile, suffix: str) -> dict[str, Any]:
    """Parse TOML or JSON into plain values; `suffix` is ".toml" or ".json"."""
    is_json = suffix == ".json"
    require_room(file.source, (JSON_MEMORY if is_json else TOML_MEMORY) * file.size)
    data = file.read(max(file.size, SMALL), SceneError)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SceneError(f"{file.source}: is not text in UTF-8: save it in this encoding") from None
    form = "JSON" if is_json else "TOML"
    with translate_errors(file.source, form, SceneError):
        try:
            table = load_json(text, file.source, SceneError) if is_json else load_toml(text)
        except ValueError as error:
            place = quote(str(error), 160)
            raise SceneError(f"{file.source}: is not {form}: {place}") from None
    if not isinstance(table, dict):
        raise SceneError(f"{file.source}: does not hold an object; it must begin with '{{'")
    return table


def find_named_files(scene: Path, *keys: str) -> list[Path]:
    """Return the files that the sets of a scene file state by some keys, even missing ones. Raises
    UserError."""
    with open_file(scene, error=SceneError) as file:
        sets = read_table(file, scene.suffix.lower()).get("spheres")
    tables = [each for each in sets if isinstance(each, dict)] if isinstance(sets, list) else []
    names = [table.get(key) for table in tables for key in keys]
    return [scene.parent / name for name in names if isinstance(name, str)]


def check_parts(values: Values, file: str) -> Values:
    """Return the parts of a scene file: objects, and of sets the checked values by key."""
    from raytracer.scene_files.tables import (
        SCENE,  # late: particle files need none of its definitions
    )

    with prefix_errors(file):
        parts: Values = SCENE.checked(values, "")
    return parts


FILES = {"environment": "image", "contacts": "file", "isosurface": "file"}
"""Keys that name a file, by the part of the scene."""


class _Composer:
    """Makes the parts of a scene of checked names and types, and collects problems."""

    def __init__(
        self, parts: Values, path: Path, frame: int | None, columns: Sequence[str]
    ) -> None:
        parts.pop("$schema", None)
        self.elements: dict[str, Element] = parts.pop("elements", {})
        self.parts = parts
        self.sets: list[Values] = parts.get("spheres", [])
        self.path = path
        self.frame = frame
        self.moves = False  # whether a file holds several frames
        self.wanted = list(columns)
        self.read: dict[str, Particles] = {}
        self.problems: list[str] = []
        self.labels: set[str] = set()  # atom labels in all coordinate files

    def scene(self) -> Scene:
        """Make the scene. Raises UserError with one line per problem."""
        parts, may_be_empty = self.parts, "spheres" in self.parts
        for name in FILES.keys() & parts.keys():
            if (file := getattr(parts[name], FILES[name])) is not None:
                file = str(self.path.parent / file)
                parts[name] = replace(parts[name], **{FILES[name]: file})
        if drawn := {name: parts.pop(name) for name in ANNOTATIONS if name in parts}:
            parts["annotations"] = import_name(PARTS["annotations"])(**drawn)
        if glyphs := [parts[name] for name in GLYPHS if name in parts]:
            self.wanted += import_name("raytracer.appearance.glyphs.settings:list_glyph_columns")(
                glyphs
            )
        for kind in SETS:
            made = (self.make_set(kind, *each) for each in enumerate(parts.get(kind, ())))
            parts[kind] = [each for each in made if each is not None]
        if not self.problems:
            self.check_elements()
        if self.frame is not None and not self.moves and not self.problems:
            self.problems.append(
                f"no file of this scene has several frames, so there is no frame {self.frame}"
            )
        if not (self.problems or self.moves or any(
            each.count for kind in SETS for each in parts[kind]
        )):  # fmt: skip
            self.check_empty(may_be_empty)
        with prefix_errors(str(self.path)):
            if self.problems:
                raise SceneError(*self.problems)
            if any(self.styles):
                self.apply_styles()
        return Scene(**parts, source=str(self.path))

    def apply_styles(self) -> None:
        from raytracer.appearance.coloring.apply import make_set_bonds, style_sets

        spheres, scales = style_sets(self.parts["spheres"], self.styles)
        self.parts["spheres"], bonds = make_set_bonds(spheres, self.styles)
        self.parts["capsules"] += bonds
        scales += [scale for each in bonds for scale in each.scales]
        self.parts["color_scales"] = scales

    @cached_property
    def styles(self) -> "list[SetStyle | None]":
        """Return the styles of the sets by columns, None for sets without."""
        return [make_set_style(values, f"spheres[{i}]") for i, values in enumerate(self.sets)]

    def particles(self, values: Values) -> Particles:
        """Return the particles of a set's file, which is read once for all sets."""

        def key_of(values: Values) -> str:
            return repr([values.get(name) for name in ("file", *OF_FILES)])

        key = key_of(values)
        if key in self.read:
            return self.read[key]
        styles = [
            style for each, style in zip(self.sets, self.styles, strict=True) if key_of(each) == key
        ]
        wanted = [name for style in styles if style is not None for name in style.columns]
        source, name = find_data_file(values, self.path.parent), values["file"]
        data = read(
            source.file(self.choose_frame(values, source), name), values.get("arrays", {}),
            self.elements, values.get("labels"), make_column_selector([*self.wanted, *wanted]),
            all_names=_complete_labels([find_data_file(each, self.path.parent) for each in self.sets
                                  if "file" in each]),
        )  # fmt: skip
        if len(styles) > 1:
            self.read[key] = data
        return data

    def check_empty(self, may_be: bool) -> None:
        """Refuse a scene without spheres, unless it has `spheres = []`."""
        if not may_be:
            self.problems.append(
                "has no spheres; add a set, [[spheres]], or to render only the background, "
                "spheres = []"
            )
        elif files := [values["file"] for values in self.sets if "file" in values]:
            self.problems.append(
                f"has no spheres: {quote(files[0])} holds no particles, so there is nothing to show"
            )

    def check_elements(self) -> None:
        for name, element in self.elements.items():
            if element.radius is None and name not in self.labels and find_symbol(name) is None:
                self.problems.append(
                    f"elements.{quote(name)}: is not an element "
                    f"({suggest(name, load_elements())}), "
                    "and no file has such a label"
                )

    def make_set(self, kind: str, index: int, values: Values) -> SphereSet | SolidSet | None:
        """Make one set; `kind` is its key in the file."""
        place = f"{kind}[{index}]"
        try:
            check_sources(kind, place, values)
            with name_set(place):
                if kind == "spheres":
                    return self.spheres(place, values)
                return self.solids(kind, place, values)
        except UserError as error:
            named = str(error).startswith(place)
            self.problems += error.sentences if named else [f"{place}.file: {error}"]
            return None

    def solids(self, kind: str, place: str, values: Values) -> SolidSet:
        file = self.path.parent / values["file"] if "file" in values else None
        if file is not None:
            from raytracer.scene_files.solid_files import read_arrays

            arrays = read_arrays(file, kind)
            stated = {many for one, many in PAIRS.items() if one in values}
            values = {key: arrays[key] for key in arrays if key not in stated} | values
        lacking = [name for name in SETS[kind][1] if not {name, PAIRS.get(name)} & {*values}]
        if lacking:
            raise SceneError(*(f"{place}.{name}: is missing" for name in lacking))
        solids: SolidSet = _make_inline_set(kind, place, values)
        solids.file = file
        return solids

    def spheres(self, place: str, values: Values) -> SphereSet:
        given = {name: values[name] for name in values.keys() - select_following(values).keys()}
        if "generate" in values:
            from raytracer.scene_files.generate import arrays

            with prefix_errors(f"{place}.generate"):
                made = arrays(**values["generate"])
            stated = {"radius": made["radii"], "color": made["colors"]} | given
            given = {"centers": made["centers"], **stated}
        if "centers" in given:
            spheres: SphereSet = _make_inline_set("spheres", place, given)
            return spheres
        data = self.particles(values)
        if data.labels is not None:
            self.labels.update(data.labels.names)
        elif "labels" in values:
            raise SceneError(f"{place}.labels: {values['file']} has no labels; leave it out")
        later = [name for name in ("radius", "color") if name in values]
        later += ["color"] * ("palette" in values)
        return SphereSet.of_particles(data, stated=later, **_set_arguments(given))

    def choose_frame(self, values: Values, source: InputSource) -> int | None:
        """Return the frame to read of a set's file: the scene's if it moves, or its own."""
        if self.frame is None or values not in [each for each, _ in self.moving]:
            return source.frame
        self.moves = True
        return self.frame

    @cached_property
    def moving(self) -> list[tuple[Values, int]]:
        return find_moving_sets(self.sets, self.path.parent)


def find_moving_sets(sets: Iterable[Values], folder: Path) -> list[tuple[Values, int]]:
    """Return the sets whose files have several frames, with their numbers. Sets that state their
    frame stand still beside those that do not."""
    counts = [(each, find_data_file(each, folder).count_frames(each["file"]))
              for each in sets if each.get("file") is not None]  # fmt: skip
    several = [(each, count) for each, count in counts if count > 1]
    return [(each, count) for each, count in several if each.get("frame") is None] or several


def find_data_file(values: Values, folder: Path) -> InputSource:
    """Return the data file of a set; `folder` is that of the scene file."""
    atoms, form = values.get("topology"), values.get("format")
    return InputSource(
        folder / values["file"],
        values.get("frame"),
        "" if form is None else parse_ending(form),
        None if atoms is None else folder / atoms,
    )


FOR_ALL: dict[str, Any] = {"color": (str, list), "radius": float, "opacity": float}
"""Keys of a set, and the types of their values that hold for all particles; others follow data."""


def select_following(values: Values) -> Values:
    """Return the values of a set that follow columns of its particles."""
    return {n: values[n] for n in FOR_ALL if n in values and not isinstance(values[n], FOR_ALL[n])}


def make_set_style(values: Values, place: str) -> "SetStyle | None":
    """Return the style of a set by columns; `place` is "spheres[0]"."""
    follow = select_following(values)
    stated = {name: values[name] for name in OF_SETS if name in values}
    if not follow and all(each is False for each in stated.values()):
        return None
    from raytracer.appearance.coloring.style import SetStyle, StyleSettings

    settings = replace(follow.get("color") or StyleSettings(), **stated)
    return SetStyle(settings, follow.get("radius"), place, follow.get("opacity"))


def make_column_selector(names: Sequence[str]) -> Wanted | None:
    """Return a function that selects the file columns that names need."""
    if not names:
        return None
    from raytracer.appearance.columns import list_file_columns

    return partial(list_file_columns, names)


OF_FILES = ("arrays", "frame", "format", "topology", "labels")
"""Keys of a set that need a data file."""


SETS: dict[str, tuple[str, tuple[str, ...]]] = {
    "spheres": ("raytracer.model.sphere_set:SphereSet", ()),
    "capsules": ("raytracer.model.solids:CapsuleSet", ("starts", "ends", "radius")),
    "cones": ("raytracer.model.solids:ConeSet", ("starts", "ends", "radius")),
    "ellipsoids": ("raytracer.model.solids:EllipsoidSet", ("centers", "semi_axes")),
    "meshes": ("raytracer.model.mesh:Mesh", ("vertices", "triangles")),
}
"""Sets of a scene file: their class, and the required keys of solids."""

OF_SPHERES = ("radius", "color", "material", "transform", "color_space", "opacity", "velocity")
"""Keys of a sphere set that are arguments of `SphereSet` for any source of spheres."""


def check_sources(kind: str, place: str, values: Values) -> None:
    """Refuse a set that states what its source has, or states it twice."""
    sources = ["centers"]
    if kind == "spheres":
        sources = [n for n in ("centers", "file", "generate") if n in values]
        if len(sources) != 1:
            got = " and ".join(sources) or "none of them"
            raise SceneError(f"{place}: needs one of centers, file and generate, got {got}")
        for key in OF_FILES:
            if key in values and sources != ["file"]:
                raise SceneError(f"{place}.{key}: is for a data file, but the set has no file")
    for one, many in PAIRS.items():
        if many in values and sources != ["centers"]:
            raise SceneError(
                f"{place}.{many}: is for inline centers; leave it out, the {sources[0]} has values"
            )
        if one in values and many in values:
            raise SceneError(f"{place}.{many}: give either {one} or {many}, not both")


def _set_arguments(values: Values) -> Values:
    """Return the arguments of `SphereSet` for any source among the values of a set."""
    return {name: values[name] for name in OF_SPHERES if name in values}


def _make_inline_set(kind: str, place: str, values: Values) -> Any:
    """Make a set from the values of a scene file; messages name its place."""
    given = {name: value for name, value in values.items() if name != "file"}
    names = {one: many if many in given else one for one, many in PAIRS.items()}
    given |= {one: given.pop(many) for one, many in PAIRS.items() if many in given}
    if kind == "spheres":
        given = {"centers": given["centers"], **_set_arguments(given)}
    try:
        with collect_warnings() as notes:
            made = import_name(SETS[kind][0])(**given, names=names)
    except UserError as error:
        raise SceneError(f"{place}.{error}") from None
    for note in notes:
        field = re.match(r"\w+(\[\d+\])?: ", note)
        warn(f"{place}.{note}" if field else f"{place}: {note}")
    return made
