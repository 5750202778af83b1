"""Registry of particle formats, one line per reader.

The lines contain all that selects a reader, so that no reader is imported before it is needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from raytracer.config.errors import DataFileError, quote, suggest
from raytracer.config.warning import warn
from raytracer.files.access import OpenFile

if TYPE_CHECKING:
    from raytracer.model.particle_source import ParticleSource
    from raytracer.particles.table_layout import TableLayout

SNIFF_BYTES = 1 << 12  # bytes at the start of a file that are compared with signatures
SNIFF_LONG = 1 << 16  # the same if the first line is longer

LIBRARIES = {
    "formats.cif": "gemmi",
    "formats.hdf5": "h5py",
    "formats.mat": "scipy",
    "formats.point_clouds": "laspy",
    "formats.spreadsheet": "python_calamine",
    "formats.vtk": "vtkmodules",
    "formats.yaml": "yaml",
    "objects.tables": "astropy",
    "objects.ase": "ase",
    "objects.chemfiles": "chemfiles",
    "objects.gsd": "gsd",
    "objects.mdanalysis": "MDAnalysis",
    "objects.pyarrow": "pyarrow",
    "objects.rdkit": "rdkit",
}
"""The library of each module that needs one; it runs in a worker process.

The libraries of `objects` read many formats, for which they are asked. The endings below are tried
with one of them first, or name the extra that is missing.
"""

OF_CLOUDS = {".pcd": "pypcd4", ".ply": "plyfile", ".las": "laspy", ".e57": "pye57"}
"""The libraries of `formats.point_clouds`, by variant."""

PLUGIN = "formats.plugin"  # the module of formats that other packages add
ISOLATED = {*LIBRARIES, PLUGIN}  # modules that run in a worker process

MAX_SUFFIXES = 12  # most endings that a message lists


def _cell_pattern(name: str) -> str:
    """Return a regular expression: the first line has a cell of this name."""
    return rf'(?=(?:[^\r\n]*[,;\t])?[ "#]*{name}[ "#]*(?:[,;\t\r\n]|\Z))'


def _split_endings(names: str) -> tuple[str, ...]:
    return tuple(f".{name}" for name in names.split())


class Format(NamedTuple):
    """A format of particle files."""

    name: str  # name in messages; "" is its ending
    # below this folder: `formats` for our readers, `objects` for libraries. Its function
    # `make_source`, else its class `FileSource`, else `Source` takes the file and the variant
    module: str
    suffixes: tuple[str, ...]  # endings of file names, in lower case
    # starts of the content that no other format has; they precede the suffix
    magic: tuple[bytes, ...] = ()
    pattern: str = ""  # regular expression of the start of the content, for unknown suffixes
    # which format of a module that reads several; for a library the ending, for a plug-in its
    # entry point
    variant: str = ""
    package: str = ""  # that adds it, with its version; "" for ours
    summary: str = ""  # of one that a package adds

    @property
    def title(self) -> str:
        """The name, with the package that adds it."""
        return f"{self.name} (of {self.package})" if self.package else self.name

    def starts(self, start: bytes) -> bool:
        """Whether a file of this format can start like this."""
        if self.pattern:
            text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
            return bool(re.match(self.pattern.encode("latin-1"), text))
        return not self.magic or start.startswith(self.magic)

    def open(self, file: OpenFile, inner: str = "") -> ParticleSource:
        """Return the source of an open file; `inner` is the path of the particles in it, or "".
        Raises DataFileError: the file is of another format, or has no inner paths."""
        if inner and self.module not in WITH_PARTS:
            raise DataFileError(
                f"{file.source}: a path after a colon is for HDF5 and spreadsheets; this is a "
                f"{self.name} file"
            )
        variant = inner or self.variant
        source: ParticleSource
        if self.module in ISOLATED:
            from raytracer.particles.isolated import SubprocessSource  # few files need it

            atoms = file.atoms() if variant in WITHOUT_COUNT and file.atoms else None
            source = SubprocessSource(file, self.module, variant, self.title, atoms)
        else:
            module = import_module(f"raytracer.particles.{self.module}")
            source = module.Source(file, variant)
        source.format = self.title
        return source

    def named(self, ending: str = "") -> Format:
        """Return the format of one of a library's endings, by default the first."""
        if not self.module.startswith("objects."):
            return self
        ending = ending or self.variant or "".join(self.suffixes[:1])
        return self._replace(name=self.name or ending[1:].upper(), variant=ending)


WITH_PARTS = ("formats.hdf5", "formats.spreadsheet")  # modules of files with several tables
WITHOUT_COUNT = (".mdcrd", ".trj", ".crdbox")  # endings that need a topology


# Possessive quantifiers: the time per line is linear in its length.
_NUMBER = r"[-+]?+(?:\d++\.?+\d*+|\.\d++)(?:[eE][-+]?+\d++)?+"
_LINE = rf"[ \t]*+{_NUMBER}(?:[ \t]++{_NUMBER}){{2}}[ \t\r]*+\n"
_GRO = r"[^\n]*\n[ \t]*\d+[ \t\r]*\n[ \d]{5}[^\n]{10}[ \d]{5}[ \t]*-?\d+\.\d+"
_COUNTS = r"(?:[ \t]*+[A-Za-z][^\n]*+\n)?+[ \t]*+\d++[ \t\d]*+[^\n]*+\n[ \t]*+[SsDdCcKk]"
_POSCAR = rf"[^\n]*+\n[ \t]*+{_NUMBER}[^\n]*+\n(?:{_LINE}){{3}}{_COUNTS}"
_ATOM = r"[ \t]*+\S++(?:[ \t]++[-+.\dEeDd]++){3}"
_NUMBER_OF = r"(?:(?:n_?atoms|atoms)[ \t]*+[=:]?[ \t]*+)?+\d++(?:[ \t]++(?:atoms|particles)\b)?+"
_XYZ = rf"{_NUMBER_OF}[ \t\f\v]*+(?:\Z|(?:\r\n?|\n)[^\n]*+(?:\Z|\n(?:\s*+\Z|{_ATOM})))"
_PLACE = r"(?:[ \t]++-?\d++\.\d++){3}"
_TINKER = rf"\d++[^\n]*+\n(?:[ \t\d.]++\n)?+[ \t]*+1[ \t]++[A-Za-z]\S*+{_PLACE}[ \t]++\d"
_AIMS = r"(?:#[^\n]*\n\s*)*(?:lattice_vector|atom|atom_frac)[ \t]+-?\d"
_HISTORY = r"[^\n]*+\n[ \t]*+\d++[ \t]++\d++[^\n]*+\ntimestep[ \t]"
_EDGE = r"(?:[ \t]*+-?+\d++\.\d++){3}[^\n]*+\n"
_NAMED = rf"[A-Za-z]\S*+[ \t]*+\d*+[^\n]*+\n{_EDGE}"
_CONFIG = rf"[^\n]*+\n[ \t]*+[0-2][ \t]++[0-7][^\n]*+\n(?:{_EDGE}){{0,3}}{_NAMED}"
_DATABASE = r'\s*\{\s*"\d+"\s*:\s*\{(?!\s*"[^"]*"\s*:\s*["\d.-])'
_CHARMM = r"(?:\*[^\n]*+\n)++[ \t]*+\d++(?![,;.\d])"
_TITLE = rf"(?!(?>[^\n]*?\bx\b)[^\n]*\by\b)(?!(?:[ \t,;]*+{_NUMBER})++[ \t\r]*+\n)[^\n]*+\n"
"""A line that is neither names of columns nor a row of numbers."""

_F8 = r"(?=[ \d-]{4}\.)[ ]*+-?+\d++\.\d{3}"  # a number in eight columns
_RESTART = r"[^\n]*+\n[ \t]*+\d++[^\n]*+\n(?:[ ]*+-?+\d++\.\d{7}){3}"
_AMBER = rf"{_TITLE}(?:{_F8}){{6}}(?:(?:{_F8}){{3,4}})?+[ \t\r]*+\n"  # 2, 3 or more atoms
_NEXT, _END = rf"(?:[ \t]++{_NUMBER})", r"[ \t\r]*+\n"
_MERCURY = rf"[ \t]*+\d++{_NEXT}{{7}}{_END}[ \t]*+{_NUMBER}{_NEXT}{{13}}{_END}"
_DATA = r"[^\n]*\n(?:\s|#[^\n]*\n)*\d+[ \t]+atoms\b"
_DUMP_OF = r"---\s*\n(?:creator: LAMMPS|timestep:)"
_PARTS = "particles|atoms|points|records|sites|positions|centers|centres|coordinates|bodies|objects"
_COLUMN = rf"columns|index|data|schema|@module|[xyzXYZ]|{_PARTS}"
_VALUE = r'(?:\[\s*(?:(?:\[\s*)?-?\d|")|\{\s*"\d+")'
_ROWS = r'\[\s*(?:\{\s*"|\[\s*(?:-?\d[^\s,\]]*+\s*[,\]]|null|"[^"]*"\s*,))|\{[^{}\[\]]*+\}\s*\{'
_KEYS = "spheres|capsules|camera|render|lights|background"  # of scenes
_HELD = rf'(?![\s\S]*?"(?:{_KEYS})"\s*:)(?=[\s\S]*?"(?:{_PARTS}|pos|geometry|[xX])"\s*:)'
_JSON = rf'{_ROWS}|\{{{_HELD}|\{{\s*"(?:(?:{_COLUMN})"\s*:|\d+"\s*:\s*\{{|[^"]*"\s*:\s*{_VALUE})'
_JSON += r"|\{\s*'"  # as Python prints it
"""JSON that is no scene: its first value is a table, or a column."""

_ONE, _OTHER = r"\x00\x01\x00\x00", r"\x00\x00\x01\x00"  # 256, the size of the header
_GADGET = (
    rf"\x08\x00{{3}}HEAD|\x00{{3}}\x08HEAD|{_ONE}[\s\S]{{256}}{_ONE}|{_OTHER}[\s\S]{{256}}{_OTHER}"
)

_TABLE = rf"(?i){_cell_pattern('x')}{_cell_pattern('y')}{_cell_pattern('z')}"
_CIF = r"(?:#[^\n]*\n\s*)*data_\S*\s"
_HOOMD = r"(?i)(?:<\?xml[^>]*>\s*)?(?:<!--[\s\S]*?-->\s*)?<(?:hoomd|galamost)_xml"
_TECPLOT = (
    r"(?i)(?:#[^\n]*\n\s*)*(?:title\s*=[^\n]*\n\s*)?(?:filetype\s*=[^\n]*\n\s*)?variables\s*="
)
_SITE = rf"[ \t]*+\d{{1,3}}+(?:[ \t]++{_NUMBER}){{5}}[ \t\r]*+\n"
_MULTISLICE = rf"[^\n]*+\n{_LINE}(?:{_SITE}){{1,3}}+(?:{_SITE}|[ \t]*+-1\b)"
_CLOUD = r"(?:/\*[\s\S]*?\*/\s*)?FoamFile\s*\{[^}]*class\s+\S*Cloud"
_MAESTRO = r"(?:#[^\n]*\n\s*)*\{\s*s_m_m2io_version"
_PDB = r"(?:HEADER|CRYST1|REMARK|TITLE |COMPND|MODEL |ATOM  |HETATM)[ \d]"

OUTPUTS = (
    ("Gaussian output", "Entering Gaussian System", "gaussian-out"),
    ("ORCA output", r"\* O   R   C   A \*", "orca-output"),
    ("NWChem output", "Northwest Computational Chemistry Package", "nwchem-out"),
    ("GAMESS output", "GAMESS VERSION", "gamess-us-out"),
    ("Quantum ESPRESSO output", "Program PWSCF", "espresso-out"),
    ("FHI-aims output", r"Invoking FHI-aims \.\.\.", "aims-output"),
    ("ABINIT output", r"\.Version [^\n]* of ABINIT", "abinit-out"),
    ("ONETEP output", "Linear-Scaling Ab Initio Total Energy Program", "onetep-out"),
    ("VASP output in XML", "<modeling>", "vasp-xml"),
)
"""Outputs of quantum chemistry that ASE reads: names, what they begin with, formats of ASE."""

_REMARKS = r"(?:[#!][^\n]*+\n\s*+)*+"
_XSF = r"(?:(?:CRYSTAL|MOLECULE|POLYMER|SLAB|DIM-GROUP|ATOMS)\b|ANIMSTEPS[ \t]++\d)[ \t\d]*+\r?+\n"
_BLOCK_END = r"\nEND[ \t\r]*+\n"
_TIMESTEP = rf"(?:TIMESTEP[\s\S]{{0,200}}?{_BLOCK_END})?"
STRUCTURES = {
    "cfg": r"Number of particles *+=",
    "xsf": _REMARKS + _XSF,
    "cell": rf"(?i){_REMARKS}%block[ \t]++(?:lattice|positions)_",
    "pwi": rf"(?i){_REMARKS}&(?:control|system)\b",
    "outcar": r"vasp\.\d",
    "g96": rf"TITLE[ \t\r]*+\n[\s\S]{{0,1000}}?{_BLOCK_END}{_TIMESTEP}POSITION[ \t\r]*+\n",
    "car": "!BIOSYM archive",
    "coord": r"\$coord\b",
    "rmc6f": r"\(Version 6",
    "magres": r"#\$magres",
}
"""Structures of atoms that ASE reads: endings, and what they begin with."""

TABLE, _CLOUDS = "formats.csv", "formats.point_clouds"
_CHEMFILES, _MDANALYSIS, _ASE = "objects.chemfiles", "objects.mdanalysis", "objects.ase"

MOLECULAR = (_CHEMFILES, "objects.rdkit", _MDANALYSIS, _ASE, "formats.cif")
"""Modules of libraries of which one may read what another does not."""

FORMATS = (
    Format("NumPy archive", "formats.npz", (".npz",), pattern=r"PK\x03\x04"),
    Format(
        "spreadsheet", "formats.spreadsheet", (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"),
        pattern=r"PK\x03\x04|\xd0\xcf\x11\xe0",
    ),
    Format("NumPy array", "formats.npy", (".npy",), (b"\x93NUMPY",)),
    Format("ASE database in JSON", _ASE, (), pattern=_DATABASE, variant=".json"),
    Format("JSON", "formats.json", (".jsonl", ".ndjson"), pattern=_JSON),
    Format("table", TABLE, (".csv", ".tsv", ".tab", ".ecsv"), pattern=_TABLE),
    Format("table", TABLE, (".txt", ".dat", ".asc", ".prn")),
    Format("Leica PTX", TABLE, (".ptx",), variant=".ptx"),
    Format("Leica PTS", TABLE, (".pts",), variant=".pts"),
    Format("spheres", TABLE, (".xyzr",), variant=".xyzr"),
    Format("points with normals", TABLE, (".xyzn",), variant=".xyzn"),
    Format("points with colours", TABLE, (".xyzrgb",), variant=".xyzrgb"),
    Format("SWC", TABLE, (".swc",), variant=".swc"),
    Format("multislice XYZ", _ASE, (), pattern=_MULTISLICE, variant=".prismatic"),
    Format("STAR", TABLE, (".star",), variant=".star"),
    Format("OpenFOAM cloud", "formats.foam", (), pattern=_CLOUD),
    Format("Tecplot", "formats.tecplot", (".tec",), pattern=_TECPLOT),
    Format("IMD", TABLE, (".imd",), pattern="#F A ", variant=".imd"),
    Format("MercuryDPM", "formats.mercury", (), pattern=_MERCURY),
    Format("Gadget", "formats.gadget", (".gad", ".gadget", ".gadget2"), pattern=_GADGET),
    Format("Tipsy", "formats.tipsy", (".tipsy", ".tip", ".std")),
    Format("VTF", "formats.vtf", (".vtf",)),
    Format("atom probe", "formats.atom_probe", (".pos",)),
    Format("atom probe", "formats.atom_probe", (".epos",), variant=".epos"),
    Format("HOOMD XML", "formats.xml", (".hoomd",), pattern=_HOOMD),
    Format("LAMMPS dump in YAML", "formats.yaml", (".yaml", ".yml"), pattern=_DUMP_OF),
    Format("XYZ", "formats.xyz", (".xyz", ".extxyz"), pattern=_XYZ),
    Format(
        "LAMMPS dump", "formats.lammps_dump", (".lammpstrj", ".dump", ".lammpsdump", ".liggghts"),
        (b"ITEM: TIMESTEP", b"ITEM: UNITS", b"ITEM: TIME"),
    ),
    Format("LAMMPS data", "formats.lammps_data", (".data", ".lmp", ".lammps"), pattern=_DATA),
    Format("PDB", "formats.pdb", (".pdb", ".ent", ".brk"), pattern=_PDB),
    Format("PDBQT", "formats.pdb", (".pdbqt",), variant="names"),
    Format("CIF", "formats.cif", (".cif", ".mmcif", ".mcif"), pattern=_CIF),
    Format("FITS", "objects.tables", (".fits", ".fit", ".fts"), (b"SIMPLE  =",), variant=".fits"),
    Format(
        "VOTable", "objects.tables", (".vot", ".votable"),
        pattern=r"(?:<\?xml[^>]*>\s*)?(?:<!--[\s\S]*?-->\s*)?<VOTABLE", variant=".vot",
    ),
    Format("MATLAB", "formats.mat", (), (b"MATLAB 5.0 MAT-file",)),
    Format("HDF5", "formats.hdf5", (), (b"MATLAB 7.3 MAT-file",)),
    Format("MATLAB", "formats.mat", (".mat",)),
    Format("PCD", _CLOUDS, (".pcd",), variant=".pcd",
           pattern=r"(?:#[^\n]*\n\s*)*VERSION[^\n]*\n\s*FIELDS"),
    Format("HDF5", "formats.hdf5", (".hdf5", ".h5", ".hdf", ".h5md"), (b"\x89HDF\r\n\x1a\n",)),
    Format("Parquet", "objects.pyarrow", (".parquet",), (b"PAR1",)),
    Format("Feather", "objects.pyarrow", (".feather", ".arrow"), (b"ARROW1",)),
    Format("VTK", "formats.vtk", (".vtk",), (b"# vtk DataFile",), variant=".vtk"),
    Format(
        "VTK XML", "formats.vtk", _split_endings("vtp vtu vts pvd pvtu pvtp vtm series"),
        pattern=r"(?:<\?xml[^>]*>\s*)?<VTKFile",
    ),
    Format("PLY", _CLOUDS, (".ply",), (b"ply\n", b"ply\r\n"), variant=".ply"),
    Format("LAS", _CLOUDS, (".las", ".laz"), (b"LASF",), variant=".las"),
    Format("E57", _CLOUDS, (".e57",), (b"ASTM-E57",), variant=".e57"),
    Format("GSD", "objects.gsd", (".gsd",), (b"\xdf\x65\xdf\x65\xdf\x65\xdf\x65",)),
    Format("NetCDF", "formats.netcdf", (".nc", ".ncdf", ".ncrst"), (b"CDF\1", b"CDF\2", b"CDF\5")),
    Format("Amber restart", "formats.inpcrd", (".inpcrd", ".rst7")),
    Format("GROMACS", "formats.gro", (".gro",), pattern=_GRO),
    Format("DCD", _CHEMFILES, (".dcd",), (b"\x54\0\0\0CORD", b"\0\0\0\x54CORD")),
    Format("TRR", _CHEMFILES, (".trr",), (b"\0\0\x07\xc9",)),
    Format("XTC", _CHEMFILES, (".xtc",), (b"\0\0\x07\xcb",)),
    Format("PSF", _CHEMFILES, (".psf",), pattern=r"PSF\b"),
    Format("MOL2", _CHEMFILES, (".mol2",), (b"@<TRIPOS>",)),
    Format("", _CHEMFILES, _split_endings("tng sdf mol cml mmtf cssr arc txyz tpr molden")),
    Format("Maestro", "objects.rdkit", (".mae", ".maegz"), pattern=_MAESTRO),
    Format("Amber topology", _MDANALYSIS, (".prmtop", ".parm7"), (b"%VERSION",)),
    Format("CHARMM coordinates", _MDANALYSIS, (".crd", ".cor"), pattern=_CHARMM),
    Format("DL_POLY history", _MDANALYSIS, (".history",), pattern=_HISTORY),
    Format("DL_POLY configuration", _MDANALYSIS, (".config",), pattern=_CONFIG),
    Format("Amber trajectory", _MDANALYSIS, WITHOUT_COUNT),
    Format("", _MDANALYSIS, _split_endings("pqr trz coor namdbin trc gms")),
    Format("VASP structure", _ASE, (".vasp", ".poscar", ".contcar"), pattern=_POSCAR),
    Format("ASE trajectory", _ASE, (".traj",), (b"- of Ulm",)),
    Format("ASE database", _ASE, (".db",), (b"SQLite format 3\0",)),
    Format("Desmond", _MDANALYSIS, (".dms",), (b"SQLite format 3\0",)),
    Format("FHI-aims", _ASE, (), pattern=_AIMS, variant=".aims"),
    *(Format(name, _ASE, (), pattern=rf"[\s\S]*?{words}", variant=f".{form}")
      for name, words, form in OUTPUTS),
    *(Format("", _ASE, (), pattern=pattern, variant=f".{form}")
      for form, pattern in STRUCTURES.items()),
    Format("Molden", _CHEMFILES, (), pattern=r"(?i)\[molden format\]", variant=".molden"),
    Format("Tinker XYZ", _CHEMFILES, (), pattern=_TINKER, variant=".arc"),
    Format("", _ASE, _split_endings(
        "xtl jsv sys xv cjson incoor axsf cube cub res shelx castep geom md gjf com gen ascii "
        "struct xsd con dlp4 f34 abi onetep nwi nwo cfg xsf cell pwi pwo outcar g96 car coord "
        "rmc6f magres"
    )),
    Format("Amber restart", "formats.inpcrd", (), pattern=_RESTART),
    Format("Amber trajectory", _MDANALYSIS, (), pattern=_AMBER, variant=".mdcrd"),
)  # fmt: skip
"""Formats; the first that matches is used."""

SUFFIXES = tuple(suffix for each in FORMATS for suffix in each.suffixes)

WAYS = {
    ".tar .tgz .7z .rar": "unpack it first",
    ".top .itp": (
        "it has atoms without coordinates: write a frame with its trajectory, for example "
        "MDAnalysis.Universe('a.top', 'TRAJECTORY').atoms.write('a.xyz')"
    ),
    ".bundle .xtd .gpw": "convert it with ASE: ase.io.write('a.xyz', ase.io.read('a.gpw'))",
    ".stl .obj .off": "it is a mesh: give it as --mesh, or in [[meshes]] of a scene file",
    ".xdmf .xmf .case": "it lists other files: name these, as a pattern in quotes for frames, "
    "as in 'run_*.vtu'",
    ".vti .vtr .bp .sdf5 .silo .exo .cgns .bgeo .vdb .bi4 .rcp .fls .blend .usd .usda .usdc .usdz "
    ".abc .fbx .glb .gltf": "export its points as .ply, .vtk or .csv, for example with "
    "ParaView, CloudCompare or Blender",
    ".orc .root .dta .sav .sas7bdat .rds .rdata .html": "save its columns as .csv or .npz",
    ".pkl .pickle .joblib .pt .pth": (
        "it can run programs when it is opened: save its arrays, as in "
        "numpy.savez('a.npz', centers=points, radii=radii)"
    ),
    ".restart": "read it with LAMMPS, and write it by the command write_data or write_dump",
}
"""What to do with files of other programs that cannot be read, by ending."""

PICTURES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".avif", ".exr", ".svg", ".pdf")


def find_by_suffix(suffix: str) -> Format | None:
    """Return the format of files with this ending (lower case), or None."""
    return next((each.named(suffix) for each in FORMATS if suffix in each.suffixes), None)


@cache
def list_added_formats() -> tuple[Format, ...]:
    """Return the formats that other packages add, without endings of others; warn of these."""
    from raytracer.particles.plugins import load_plugins  # late: few files need it

    found: list[Format] = []
    taken = {each: form.named(each).name for form in reversed(FORMATS) for each in form.suffixes}
    for plugin in load_plugins():
        named, own = f".{plugin.name.lower()}", plugin.form  # the name is for --format
        suffixes = tuple(dict.fromkeys((named, *own.suffixes)))
        form = Format(
            own.name, PLUGIN, tuple(each for each in suffixes if each not in taken),
            (own.magic,) if own.magic else (), variant=plugin.value, package=plugin.package,
            summary=own.summary,
        )  # fmt: skip
        for each in suffixes:
            if each in taken and not own.magic:
                warn(
                    f"{plugin.title}: files ending in '{each}' are read as {taken[each]}, which "
                    f"has this ending too: --format {suffixes[0][1:]} reads them as this"
                )
        taken |= dict.fromkeys(form.suffixes, form.title)
        found.append(form)
    return tuple(found)


def find_added_by_suffix(suffix: str) -> Format | None:
    """Return the format of another package for files with this ending (lower case), or None."""
    return next((each for each in list_added_formats() if suffix in each.suffixes), None)


def find_added_by_content(start: bytes) -> Format | None:
    """Return the format of another package whose files start with these bytes, or None."""
    known = (each for each in list_added_formats() if each.magic and start.startswith(each.magic))
    return next(known, None)


def find_stated(suffix: str) -> Format:
    """Return the format that a user states by its ending (lower case). Raises DataFileError: there
    is none; the message suggests the nearest."""
    if form := find_by_suffix(suffix) or find_added_by_suffix(suffix):
        return form
    added = (each for form in list_added_formats() for each in form.suffixes)
    hint = suggest(suffix[1:], [each[1:] for each in (*SUFFIXES, *added)])
    if suffix in PICTURES:
        hint = "it is one of pictures, as in '--output NAME.jpg', and this option is for data"
    raise DataFileError(f"format: '{quote(suffix[1:])}' is not the ending of a format; {hint}")


def find_by_magic(start: bytes) -> Format | None:
    """Return the only format whose files start with these bytes, or None."""
    form = next((each for each in FORMATS if start.startswith(each.magic)), None)
    return form and form.named()


def is_particles(start: bytes) -> bool:
    """Whether JSON that starts with these bytes is particles, not a scene."""
    form = find_by_content(start) if start.lstrip()[:1] in (b"{", b"[") else None
    return form is not None and (form.package != "" or form.pattern in (_DATABASE, _JSON))


def find_by_content(start: bytes, weak: bool = True) -> Format | None:
    """Return the format of a file that starts with these bytes, or None.

    weak: whether it may be one of Amber, whose rows are those of any table.
    """
    known = (each for each in FORMATS if each.pattern and each.starts(start)
             and (weak or each.pattern not in (_RESTART, _AMBER)))  # fmt: skip
    form = find_by_magic(start) or find_added_by_content(start) or next(known, None)
    return form and form.named()


def list_formats() -> list[dict[str, Any]]:
    """Return all formats: "name", "endings" (none: known by content alone), "library" (that reads
    it, if it is one), and of those of other packages "package" and "summary"."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for form in FORMATS:
        library = OF_CLOUDS.get(form.variant) or LIBRARIES.get(form.module, "")
        name = form.name or f"others by {library}"
        row = rows.setdefault((name, library), {"name": name, "endings": []})
        row["endings"] += (each for each in form.suffixes if each not in row["endings"])
        row |= {"library": library} if library else {}
    added = [
        {"name": form.name, "endings": [*form.suffixes], "package": form.package}
        | ({"summary": form.summary} if form.summary else {})
        for form in list_added_formats()
    ]
    return [*rows.values(), *added]


def read_start(file: OpenFile) -> bytes:
    """Return the first bytes of a file, at least its first line if that is not too long."""
    file.file.seek(0)
    start = file.file.read(SNIFF_BYTES)
    if b"\n" not in start:
        start += file.file.read(SNIFF_LONG)
    file.file.seek(0)
    return start


def detect_format(file: OpenFile, suffix: str) -> Format:
    """Return the format of an open file: by its first bytes, its ending, or its content.

    Raises DataFileError: the format is unknown; the message says how to convert the file."""
    start = read_start(file)
    form = find_by_suffix(suffix)
    if form is None and suffix and (form := find_added_by_suffix(suffix)) and form.starts(start):
        return form
    if form is None or not (form.magic and start.startswith(form.magic)):
        form = find_by_magic(start) or form
    if form is not None:
        is_open = form.module == TABLE and not form.pattern and not form.variant
        is_known = form.magic or form.pattern or not (is_open or b"\0" in start[:64])
        if is_known and form.starts(start):
            return form
        return find_by_content(start, weak=not is_open) or form
    way = next((way for endings, way in WAYS.items() if suffix in endings.split()), None)
    if way is None:
        if form := find_by_content(start) or next(_other_formats(file, suffix, None), None):
            return form
        way = (
            f"supported are {', '.join(SUFFIXES[:MAX_SUFFIXES])} and "
            f"{len(SUFFIXES) - MAX_SUFFIXES} others; if it is one of them, use --format SUFFIX"
        )
    what = f"ending in '{quote(suffix)}'" if suffix else "without an ending"
    raise DataFileError(f"{file.source}: files {what} cannot be read; {way}")


def open_as(
    form: Format, file: OpenFile, inner: str, is_stated: bool
) -> tuple[Format, ParticleSource]:
    """Open a file in its format, or in another that reads it if only its name states that one.

    is_stated: whether the user stated the format. Raises DataFileError: no format reads it; the
    error is that of the first."""
    first: ParticleSource | None = None
    problem = DataFileError(f"{file.source}: holds no atoms")
    try:
        first = form.open(file, inner)
        if form.module not in MOLECULAR or _holds_atoms(first):
            return form, first
    except DataFileError as error:
        problem = error
    is_certain = form.package or ((form.magic or form.pattern) and form.starts(read_start(file)))
    suffix = file.path.suffix.lower()
    others: Iterator[Format] = iter(())
    if form.module in MOLECULAR and (is_certain or is_stated):
        others = _library_formats(file, form.variant or suffix, form)
    elif not (inner or is_certain or is_stated):
        others = _other_formats(file, suffix, form)
    for other in others:
        with suppress(DataFileError):
            source = other.open(file)
            if _holds_atoms(source):
                if form.module in MOLECULAR and other.module in MOLECULAR:
                    _name_library(form, other, source, problem)
                return other, source
    if first is None:
        raise problem
    return form, first


def _holds_atoms(source: ParticleSource) -> bool:
    return bool(source.columns) and source.count != 0


def _name_library(
    form: Format, other: Format, source: ParticleSource, problem: DataFileError
) -> None:
    """Note that another library reads a file than that of its format."""
    failed, reader = (LIBRARIES[each.module] for each in (form, other))
    why = problem.sentences[0].removeprefix(f"{source.name}: ")
    why = re.sub(r"^cannot be read as [^(]*\((.*)\)$", r"\1", why.partition(": pip install")[0])
    source.note(f"{reader} reads it, since {failed} does not ({why})")
    source.format = f"{other.name}, read by {reader}"


def _other_formats(file: OpenFile, suffix: str, failed: Format | None) -> Iterator[Format]:
    """Yield formats that read a file of an unknown format, or of one that failed."""
    start = read_start(file)
    if failed is not None and (form := find_by_content(start)) and form.module != failed.module:
        yield form
    is_text = b"\0" not in start
    table = _find_table(file, failed) if is_text else None
    if table is not None and table.header:  # with names of coordinates
        yield Format("table", TABLE, ())
    if (failed is None and is_text) or (failed and failed.module.startswith("objects.")):
        yield from _library_formats(file, suffix, failed)
    if start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<"):
        yield Format("XML", "formats.xml", ())
    elif table is not None:
        yield Format("table", TABLE, ())
    elif b"\0" in start:
        from raytracer.particles.formats.tipsy import find_byte_order

        if find_byte_order(start, file.size):
            yield Format("Tipsy", "formats.tipsy", ())


def _find_table(file: OpenFile, failed: Format | None) -> TableLayout | None:
    """Return the layout of a text that is certainly a table. Where a format has failed, one that
    states the number of its rows is none, nor is one of numbers alone with a known ending."""
    from raytracer.particles.rewritten import rewrite_table

    is_known = failed is not None and find_by_suffix(file.path.suffix.lower()) is not None
    with suppress(DataFileError):
        _, table = rewrite_table(file)
        if table.has_rows or (table.is_bare and not is_known):
            return None if failed is not None and table.is_counted else table
    return None


def _library_formats(file: OpenFile, suffix: str, failed: Format | None) -> Iterator[Format]:
    """Yield a format for each installed library that reads a file, but the one that failed."""
    from importlib.util import find_spec

    from raytracer.particles.isolated import call_in_process

    for module in MOLECULAR:
        is_other = failed is None or failed.module != module
        if is_other and find_spec(LIBRARIES[module]) is not None:
            name = suffix[1:].upper() or LIBRARIES[module]
            adapter = import_module(f"raytracer.particles.{module}")
            if hasattr(adapter, "knows") and call_in_process(file, adapter.knows, name, suffix):
                yield Format(name, module, (), variant=suffix)
