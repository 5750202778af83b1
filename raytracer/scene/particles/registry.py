"""Registry of particle formats: a format is one line here and one module in `formats/`.

The lines state what a reader is chosen by, so that no reader is imported before it is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple

from raytracer.errors import DataFileError, shown, suggestion
from raytracer.files.access import OpenFile
from raytracer.scene.particles.source import ParticleSource

SNIFF_BYTES = 1 << 12
"""Bytes at the start of a file that are compared with signatures."""


LIBRARIES = {
    "arrow": "pyarrow",
    "ase": "ase",
    "chemfiles": "chemfiles",
    "cif": "gemmi",
    "gsd": "gsd",
    "hdf5": "h5py",
    "las": "laspy",
    "mdanalysis": "MDAnalysis",
}
"""The library of each module in `formats/` that needs one: it reads in a process of its own."""

MOST_SUFFIXES = 12
"""Most endings that a message lists."""


def _cell(name: str) -> str:
    """Return a regular expression: the first line has a cell of this name."""
    return rf'(?=(?:[^\r\n]*[,;\t])?[ "#]*{name}[ "#]*(?:[,;\t\r\n]|\Z))'


class Format(NamedTuple):
    """A format of particle files.

    Args:
        name: what messages call it.
        module: in `formats/`; its class `Source` is a `ParticleSource`; of one that has several,
            its function `opened_source` gives it.
        suffixes: endings of file names, in lower case.
        magic: starts of the content that no other format has; they decide before the suffix does.
        pattern: regular expression of the start of the content, for files whose suffix is unknown.
        variant: which of the formats of a module it is, for those that read several.
    """

    name: str
    module: str
    suffixes: tuple[str, ...]
    magic: tuple[bytes, ...] = ()
    pattern: str = ""
    variant: str = ""

    def starts(self, start: bytes) -> bool:
        """Whether the content of a file of this format may start so."""
        if self.pattern:
            import re

            return bool(re.match(self.pattern.encode("latin-1"), _text_of(start)))
        return not self.magic or start.startswith(self.magic)

    def open(self, file: OpenFile, inner: str = "") -> ParticleSource:
        """Return the source of an open file.

        Args:
            file: the file.
            inner: path of the particles in it, or "".

        Raises:
            DataFileError: the file is of another format, or has no paths in it.
        """
        if inner and self.module != "hdf5":
            raise DataFileError(
                f"{file.source}: a path behind a colon is for HDF5; this is a {self.name} file"
            )
        found: ParticleSource
        variant = inner or self.variant
        if self.module in LIBRARIES:
            from raytracer.scene.particles.isolated import IsolatedSource  # late: few files need it

            found = IsolatedSource(file, self.module, variant, self.name)
        else:
            module = import_module(f"raytracer.scene.particles.formats.{self.module}")
            source: Callable[[OpenFile, str], ParticleSource]
            source = getattr(module, "opened_source", None) or module.Source
            found = source(file, variant)
        found.format = self.name
        return found


# Quantifiers that give nothing back: the time that a line takes grows with its length only.
_NUMBER = r"[-+]?+(?:\d++\.?+\d*+|\.\d++)(?:[eE][-+]?+\d++)?+"
_LINE = rf"[ \t]*+{_NUMBER}(?:[ \t]++{_NUMBER}){{2}}[ \t\r]*+\n"
_GRO = r"[^\n]*\n[ \t]*\d+[ \t\r]*\n[ \d]{5}[^\n]{10}[ \d]{5}[ \t]*-?\d+\.\d+"
_POSCAR = rf"[^\n]*+\n[ \t]*+{_NUMBER}[ \t\r]*+\n(?:{_LINE}){{3}}"

_XSF = r"(?:#[^\n]*\n\s*)*(?:CRYSTAL|MOLECULE|POLYMER|SLAB|ANIMSTEPS|ATOMS|DIM-GROUP)\b"
_PWI = r"(?i)(?:![^\n]*\n\s*)*&(?:control|system)\b"
_AIMS = r"(?:#[^\n]*\n\s*)*(?:lattice_vector|atom|atom_frac)[ \t]+-?\d"

_HISTORY = r"[^\n]*+\n[ \t]*+\d++[ \t]++\d++[^\n]*+\ntimestep[ \t]"
_EDGE = r"(?:[ \t]*+-?+\d++\.\d++){3}[^\n]*+\n"
_NAMED = rf"[A-Za-z]\S*+[ \t]*+\d*+[^\n]*+\n{_EDGE}"
_CONFIG = rf"[^\n]*+\n[ \t]*+[0-2][ \t]++[0-7][^\n]*+\n(?:{_EDGE}){{0,3}}{_NAMED}"
_DATABASE = r'\s*\{\s*"\d+"\s*:\s*\{'

_PDB = r"(?:HEADER|CRYST1|REMARK|TITLE |COMPND|MODEL |ATOM  |HETATM)[ \d]"

FORMATS = (
    Format("NumPy archive", "npz", (".npz",), pattern=r"PK\x03\x04"),
    Format("NumPy array", "npy", (".npy",), (b"\x93NUMPY",)),
    Format("table", "csv", (".csv", ".tsv"), pattern=rf"(?i){_cell('x')}{_cell('y')}{_cell('z')}"),
    Format("table", "csv", (".txt", ".dat", ".asc"), variant="bare"),
    Format("XYZ", "xyz", (".xyz", ".extxyz"), pattern=r"\d+[ \t\f\v]*(?:[\r\n]|\Z)"),
    Format(
        "LAMMPS dump",
        "lammps_dump",
        (".lammpstrj", ".dump", ".lammpsdump"),
        (b"ITEM: TIMESTEP", b"ITEM: UNITS", b"ITEM: TIME"),
    ),
    Format(
        "LAMMPS data",
        "lammps_data",
        (".data", ".lmp", ".lammps"),
        pattern=r"[^\n]*\n(?:\s|#[^\n]*\n)*\d+[ \t]+atoms\b",
    ),
    Format("GROMACS", "gro", (".gro",), pattern=_GRO),
    Format("VASP structure", "poscar", (".vasp", ".poscar", ".contcar"), pattern=_POSCAR),
    Format("PDB", "pdb", (".pdb", ".ent", ".brk"), pattern=_PDB),
    Format("CIF", "cif", (".cif", ".mmcif", ".mcif"), pattern=r"(?:#[^\n]*\n\s*)*data_\S*\s"),
    Format("HDF5", "hdf5", (".hdf5", ".h5", ".hdf", ".h5md"), (b"\x89HDF\r\n\x1a\n",)),
    Format("Parquet", "arrow", (".parquet",), (b"PAR1",), variant="parquet"),
    Format("Feather", "arrow", (".feather", ".arrow"), (b"ARROW1",), variant="feather"),
    Format("VTK", "vtk_legacy", (".vtk",), (b"# vtk DataFile",)),
    Format("VTK XML", "vtk_xml", (".vtp", ".vtu", ".vts"), pattern=r"(?:<\?xml[^>]*>\s*)?<VTKFile"),
    Format("PSF", "psf", (".psf",), pattern=r"PSF\b"),
    Format("Amber topology", "prmtop", (".prmtop", ".parm7"), (b"%VERSION",)),
    Format("CHARMM or Amber coordinates", "crd", (".crd", ".inpcrd", ".rst7", ".cor")),
    Format("Amber trajectory", "mdcrd", (".mdcrd", ".trj", ".crdbox")),
    Format("PLY", "ply", (".ply",), (b"ply\n", b"ply\r\n")),
    Format("LAS", "las", (".las", ".laz"), (b"LASF",)),
    Format("GSD", "gsd", (".gsd",), (b"\xdf\x65\xdf\x65\xdf\x65\xdf\x65",)),
    Format("DCD", "dcd", (".dcd",), (b"\x54\0\0\0CORD", b"\0\0\0\x54CORD")),
    Format("TRR", "trr", (".trr",), (b"\0\0\x07\xc9",)),
    Format("XTC", "chemfiles", (".xtc",), (b"\0\0\x07\xcb",), variant="XTC"),
    Format("TNG", "chemfiles", (".tng",), variant="TNG"),
    Format("NetCDF", "netcdf", (".nc", ".ncdf", ".ncrst"), (b"CDF\1", b"CDF\2", b"CDF\5")),
    Format("TRZ", "trz", (".trz",)),
    Format("NAMD coordinates", "namdbin", (".coor", ".namdbin")),
    Format("MOL2", "chemfiles", (".mol2",), (b"@<TRIPOS>",), variant="MOL2"),
    Format("SDF", "chemfiles", (".sdf", ".mol"), variant="SDF"),
    Format("CML", "chemfiles", (".cml",), variant="CML"),
    Format("MMTF", "chemfiles", (".mmtf",), variant="MMTF"),
    Format("CSSR", "chemfiles", (".cssr",), variant="CSSR"),
    Format("Tinker XYZ", "chemfiles", (".arc", ".txyz"), variant="Tinker"),
    Format("GROMACS run input", "chemfiles", (".tpr",), variant="TPR"),
    Format("Molden", "chemfiles", (".molden",), pattern=r"(?i)\[molden format\]", variant="Molden"),
    Format("PQR", "pqr", (".pqr",)),
    Format("PDBQT", "pdb", (".pdbqt",), variant="names"),
    Format("ASE trajectory", "ase", (".traj",), (b"- of Ulm",), variant="traj"),
    Format("ASE database", "ase", (".db",), (b"SQLite format 3\0",), variant="db"),
    Format("ASE database in JSON", "ase", (), pattern=_DATABASE, variant="json"),
    Format("muSTEM", "ase", (".xtl",), variant="mustem"),
    Format("JSV", "ase", (".jsv",), variant="jsv"),
    Format("qball", "ase", (".sys",), variant="sys"),
    Format("SIESTA", "ase", (".xv",), variant="siesta-xv"),
    Format("Chemical JSON", "ase", (".cjson",), variant="cjson"),
    Format("DMol3 coordinates", "ase", (".incoor",), variant="dmol-incoor"),
    Format("DL_POLY history", "mdanalysis", (".history",), pattern=_HISTORY, variant="HISTORY"),
    Format("DL_POLY configuration", "mdanalysis", (".config",), pattern=_CONFIG, variant="CONFIG"),
    Format("Desmond", "mdanalysis", (".dms",), (b"SQLite format 3\0",), variant="DMS"),
    Format("GROMOS trajectory", "mdanalysis", (".trc",), variant="TRC"),
    Format("GAMESS", "mdanalysis", (".gms",), variant="GMS"),
    Format("AtomEye", "ase", (".cfg",), pattern=r"Number of particles *=", variant="cfg"),
    Format("XCrySDen", "ase", (".xsf", ".axsf"), pattern=_XSF, variant="xsf"),
    Format("Gaussian cube", "ase", (".cube", ".cub"), variant="cube"),
    Format("SHELX", "ase", (".res", ".shelx"), variant="res"),
    Format("CASTEP cell", "ase", (".cell",), pattern=r"(?i)%block +lattice", variant="castep-cell"),
    Format("CASTEP output", "ase", (".castep",), variant="castep-castep"),
    Format("CASTEP geometry", "ase", (".geom",), variant="castep-geom"),
    Format("CASTEP dynamics", "ase", (".md",), variant="castep-md"),
    Format("Quantum ESPRESSO input", "ase", (".pwi",), pattern=_PWI, variant="espresso-in"),
    Format(
        "Quantum ESPRESSO output", "ase", (".pwo",), pattern="Program PWSCF", variant="espresso-out"
    ),
    Format("VASP output", "ase", (".outcar",), pattern=r"vasp\.\d", variant="vasp-out"),
    Format("VASP XML", "ase", (), pattern=r"<\?xml[^>]*>\s*<modeling>", variant="vasp-xml"),
    Format("FHI-aims", "ase", (), pattern=_AIMS, variant="aims"),
    Format("Gaussian input", "ase", (".gjf", ".com"), variant="gaussian-in"),
    Format("Gaussian output", "ase", (), pattern="Entering Gaussian", variant="gaussian-out"),
    Format("DFTB+", "ase", (".gen",), variant="gen"),
    Format("V_Sim", "ase", (".ascii",), variant="v-sim"),
    Format("WIEN2k", "ase", (".struct",), variant="struct"),
    Format("GROMOS", "ase", (".g96",), pattern=r"TITLE\s*\n(?s:.{0,400})\nEND", variant="gromos"),
    Format("Materials Studio", "ase", (".xsd",), variant="xsd"),
    Format("DMol3", "ase", (".car",), pattern=r"!BIOSYM archive", variant="dmol-car"),
    Format("EON", "ase", (".con",), variant="eon"),
    Format("Turbomole", "ase", (".coord",), pattern=r"\$coord\b", variant="turbomole"),
    Format("DL_POLY", "ase", (".dlp4",), variant="dlp4"),
    Format("CRYSTAL", "ase", (".f34",), variant="crystal"),
    Format("RMCProfile", "ase", (".rmc6f",), pattern=r"\(Version 6", variant="rmc6f"),
    Format("Magres", "ase", (".magres",), pattern=r"#\$magres", variant="magres"),
    Format("ABINIT input", "ase", (".abi",), variant="abinit-in"),
    Format("ONETEP input", "ase", (".onetep",), variant="onetep-in"),
    Format("NWChem input", "ase", (".nwi",), variant="nwchem-in"),
    Format("NWChem output", "ase", (".nwo",), variant="nwchem-out"),
)
"""The first format of those that match is chosen."""

SUFFIXES = tuple(suffix for each in FORMATS for suffix in each.suffixes)
"""Endings of the particle files that can be read."""


PICTURES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".avif", ".exr", ".svg", ".pdf")
"""Endings of pictures."""


def by_suffix(suffix: str) -> Format | None:
    """Return the format of files with this ending (lower case), or None."""
    return next((each for each in FORMATS if suffix in each.suffixes), None)


def stated(suffix: str) -> Format:
    """Return the format that a user names by its ending, whatever the file holds.

    Args:
        suffix: in lower case, with its dot.

    Raises:
        DataFileError: there is none; the sentence names the nearest.
    """
    found = by_suffix(suffix)
    if found is None:
        if suffix in PICTURES:
            raise DataFileError(
                f"format: '{shown(suffix[1:])}' is one of pictures, and this is that of the data: "
                "the ending of a picture's name says its format, as in '--output NAME.jpg'"
            )
        hint = suggestion(suffix[1:], [each[1:] for each in SUFFIXES])
        raise DataFileError(f"format: '{shown(suffix[1:])}' is not the ending of a format; {hint}")
    return found


def by_magic(start: bytes) -> Format | None:
    """Return the format whose files alone start with these bytes, or None."""
    return next((each for each in FORMATS if start.startswith(each.magic)), None)


def is_database(start: bytes) -> bool:
    """Whether a file that starts with these bytes is a database of ASE in JSON, and no scene."""
    found = by_content(start) if start.lstrip()[:1] == b"{" else None
    return found is not None and found.pattern == _DATABASE


def by_content(start: bytes) -> Format | None:
    """Return the format of a file that starts with these bytes, or None."""
    if found := by_magic(start):
        return found
    import re

    text = _text_of(start)
    for each in FORMATS:
        if each.pattern and re.match(each.pattern.encode("latin-1"), text):
            return each
    return None


def _text_of(start: bytes) -> bytes:
    """Return the start of a text without a byte order mark and white space before it."""
    return start.removeprefix(b"\xef\xbb\xbf").lstrip()


def start_of(file: OpenFile) -> bytes:
    """Return the start of a file."""
    file.file.seek(0)
    start = file.file.read(SNIFF_BYTES)
    file.file.seek(0)
    return start


def format_of(file: OpenFile, suffix: str, others: tuple[str, ...] = ()) -> Format:
    """Return the format of an open file: by its first bytes, by its ending, or by its content.

    Args:
        file: the file.
        suffix: its ending, in lower case.
        others: endings of files that are no particles, which the message lists too.

    Raises:
        DataFileError: no reader knows the file; the sentence says how to convert it.
    """
    start = start_of(file)
    found = by_suffix(suffix)
    if found is None or not (found.magic and start.startswith(found.magic)):
        found = by_magic(start) or found
    if found is not None:
        return found if found.starts(start) else by_content(start) or found
    from raytracer.scene.particles.conversion import unread, way_out

    way = way_out(file.path)
    found = None if way else by_content(start)
    if found is None:
        raise DataFileError(f"{file.source}: {unread(suffix)}; {_hint(suffix, others, way)}")
    return found


def _hint(suffix: str, others: tuple[str, ...], way: str) -> str:
    """Return which endings are supported, those near an unknown one first, and what to do.

    Args:
        suffix: the unknown one.
        others: endings of files that are no particles.
        way: how to convert the file, or "".
    """
    from difflib import get_close_matches

    known = [*others, *SUFFIXES]
    near = [] if way else get_close_matches(suffix, known, 3, 0.6)
    listed = ", ".join(known[:MOST_SUFFIXES])
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    text = f"{hint}supported are {listed} and {len(known) - MOST_SUFFIXES} others"
    return f"{text}; {way or 'if it is one of them, say --format ENDING'}"
