"""Radii and colours of the elements, for coordinate files that name only elements.

Radii are the single-bond covalent radii of P. Pyykko and M. Atsumi, Chemistry - A European Journal
15 (2009) 186-197, doi:10.1002/chem.200800987, in angstrom, which cover all 118 elements. With
covalent radii bonded atoms just touch: a molecule shows its bonds and a metal its packing, where
van der Waals spheres would merge.

Colours are Jmol's (an extension of the Corey-Pauling-Koltun model colours), which end at
meitnerium; the last nine are our choice.

Other radii, for all elements that have one: van der Waals, S. Alvarez, Dalton Transactions 42
(2013) 8617-8636, doi:10.1039/c3dt50599e. Other colours: CPK is RasMol's (R. Sayle), where all other
elements are pink; VESTA's (K. Momma and F. Izumi, J. Appl. Cryst. 44 (2011) 1272-1276) equal Jmol's
except for the elements listed.
"""

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from raytracer.config.errors import SceneError, find_nearest_name
from raytracer.model.colors import DEFAULT_COLOR, RGB, parse_color

# Symbol, covalent radius in pm, sRGB colour; the position is the atomic number.
_TABLE = """
H 32 FFFFFF, He 46 D9FFFF,
Li 133 CC80FF, Be 102 C2FF00, B 85 FFB5B5, C 75 909090,
N 71 3050F8, O 63 FF0D0D, F 64 90E050, Ne 67 B3E3F5,
Na 155 AB5CF2, Mg 139 8AFF00, Al 126 BFA6A6, Si 116 F0C8A0,
P 111 FF8000, S 103 FFFF30, Cl 99 1FF01F, Ar 96 80D1E3,
K 196 8F40D4, Ca 171 3DFF00, Sc 148 E6E6E6, Ti 136 BFC2C7, V 134 A6A6AB, Cr 122 8A99C7,
Mn 119 9C7AC7, Fe 116 E06633, Co 111 F090A0, Ni 110 50D050, Cu 112 C88033, Zn 118 7D80B0,
Ga 124 C28F8F, Ge 121 668F8F, As 121 BD80E3, Se 116 FFA100, Br 114 A62929, Kr 117 5CB8D1,
Rb 210 702EB0, Sr 185 00FF00, Y 163 94FFFF, Zr 154 94E0E0, Nb 147 73C2C9, Mo 138 54B5B5,
Tc 128 3B9E9E, Ru 125 248F8F, Rh 125 0A7D8C, Pd 120 006985, Ag 128 C0C0C0, Cd 136 FFD98F,
In 142 A67573, Sn 140 668080, Sb 140 9E63B5, Te 136 D47A00, I 133 940094, Xe 131 429EB0,
Cs 232 57178F, Ba 196 00C900, La 180 70D4FF, Ce 163 FFFFC7, Pr 176 D9FFC7, Nd 174 C7FFC7,
Pm 173 A3FFC7, Sm 172 8FFFC7, Eu 168 61FFC7, Gd 169 45FFC7, Tb 168 30FFC7, Dy 167 1FFFC7,
Ho 166 00FF9C, Er 165 00E675, Tm 164 00D452, Yb 170 00BF38, Lu 162 00AB24,
Hf 152 4DC2FF, Ta 146 4DA6FF, W 137 2194D6, Re 131 267DAB, Os 129 266696, Ir 122 175487,
Pt 123 D0D0E0, Au 124 FFD123, Hg 133 B8B8D0, Tl 144 A6544D, Pb 144 575961, Bi 151 9E4FB5,
Po 145 AB5C00, At 147 754F45, Rn 142 428296,
Fr 223 420066, Ra 201 007D00, Ac 186 70ABFA, Th 175 00BAFF, Pa 169 00A1FF, U 170 008FFF,
Np 171 0080FF, Pu 172 006BFF, Am 166 545CF2, Cm 166 785CE3, Bk 168 8A4FE3, Cf 168 A136D4,
Es 165 B31FD4, Fm 167 B31FBA, Md 173 B30DA6, No 176 BD0D87, Lr 161 C70066,
Rf 157 CC0059, Db 149 D1004F, Sg 143 D90045, Bh 141 E00038, Hs 134 E6002E, Mt 129 EB0026,
Ds 128 F00024, Rg 121 F30022, Cn 122 F50020, Nh 136 F7001E, Fl 143 F8001C, Mc 162 FA001A,
Lv 175 FB0018, Ts 165 FC0016, Og 157 FD0014
"""

RADII = ("covalent", "vdw")
_VDW = """
H 120, He 143, Li 212, Be 198, B 191, C 177, N 166, O 150, F 146, Ne 158, Na 250, Mg 251, Al 225,
Si 219, P 190, S 189, Cl 182, Ar 194, K 273, Ca 262, Sc 258, Ti 246, V 242, Cr 245, Mn 245,
Fe 244, Co 240, Ni 240, Cu 238, Zn 239, Ga 232, Ge 229, As 188, Se 182, Br 186, Kr 207, Rb 321,
Sr 284, Y 275, Zr 252, Nb 256, Mo 245, Tc 244, Ru 246, Rh 244, Pd 215, Ag 253, Cd 249, In 243,
Sn 242, Sb 247, Te 199, I 204, Xe 228, Cs 348, Ba 303, La 298, Ce 288, Pr 292, Nd 295, Sm 290,
Eu 287, Gd 283, Tb 279, Dy 287, Ho 281, Er 283, Tm 279, Yb 280, Lu 274, Hf 263, Ta 253, W 257,
Re 249, Os 248, Ir 241, Pt 229, Au 232, Hg 245, Tl 247, Pb 260, Bi 254, Rn 240, Ac 280, Th 293,
Pa 288, U 271, Np 282, Pu 281, Am 283, Cm 305, Bk 340, Cf 305, Es 270
"""

_CPK = """
H FFFFFF, He FFC0CB, Li B22222, B 00FF00, C C8C8C8, N 8F8FFF, O F00000, F DAA520, Na 0000FF,
Mg 228B22, Al 808090, Si DAA520, P FFA500, S FFC832, Cl 00FF00, Ca 808090, Ti 808090, Cr 808090,
Mn 808090, Fe FFA500, Ni A52A2A, Cu A52A2A, Zn A52A2A, Br A52A2A, Ag 808090, I A020F0, Ba FFA500,
Au DAA520
"""

_VESTA = """
H FFCCCC, He FCE8CE, Li 86DF73, Be 5ED77B, B 1FA20F, C 4C4C4C, N B0B9E6, O FE0300, F B0B9E6,
Ne FE37B5, Na F9DC3C, Mg FB7B15, Al 81B2D6, Si 1B3BFA, P C09CC2, S FFFA00, Cl 31FC02, Ar CFFEC4,
K A121F6, Ca 5A96BD, Sc B563AB, Ti 78CAFF, V E51900, Cr 00009E, Mn A7089D, Fe B57100, Co 0000AF,
Ni B7BBBD, Cu 2247DC, Zn 8F8F81, Ga 9EE373, Ge 7E6EA6, As 74D057, Se 9AEF0F, Br 7E3102,
Kr FAC1F3, Zr 00FF00, Sn 9A8EB9, La 5AC449
"""

_PINK = "FF1493"

_MASSES = """
1 4 7 9 11 12 14 16 19 20 23 24 27 28 31 32 35 40 39 40 45 48 51 52 55 56 59 59 64 65 70 73 75 79
80 84 85 88 89 91 93 96 98 101 103 106 108 112 115 119 122 128 127 131 133 137 139 140 141 144 145
150 152 157 159 162 165 167 169 173 175 178 181 184 186 190 192 195 197 201 204 207 209 209 210
222 223 226 227 232 231 238 237 244 243 247 247 251 252 257 258 259 262 267 268 271 270 269 278
281 281 285 286 289 289 293 293 294
"""  # in atomic mass units, rounded: to tell elements from beads

LIGHTEST_BEAD = 10.0  # mass of beads of several atoms, in atomic mass units; those of Martini: 36

_ISOTOPES = {"D": "H", "T": "H"}


class Element(NamedTuple):
    """Radius in angstrom or the length unit of the file, and sRGB colour in 0..1; None: those of
    the table. symbol: the element that a user's label stands for, or ""."""

    radius: float | None = None
    color: RGB | None = None
    symbol: str = ""


@cache
def load_elements() -> dict[str, Element]:
    """Return every element by symbol, in the order of atomic numbers from 1."""
    return {
        symbol: Element(int(radius) / 100.0, _parse_rgb(code))
        for symbol, radius, code in map(str.split, _TABLE.split(","))
    }


def find_element(label: str, overrides: Mapping[str, Element] | None = None) -> Element:
    """Return radius and colour for a label of a coordinate file: a symbol in any case ("Fe", "FE"),
    also with a site number ("C12"), an atomic number, or a label among the overrides, of which None
    comes from the table."""
    overrides = overrides or {}
    symbol = find_symbol(label)
    own = overrides.get(label) or overrides.get(symbol or "") or Element()
    if symbol is None and own.radius is None:
        near = find_nearest_name(label, load_elements())
        hint = f"; did you mean '{near}'?" if near else ""
        raise SceneError(
            f"'{label}' is not an element (for another label give a radius under "
            f"[elements.{label}] in the scene file){hint}"
        )
    known = Element(color=DEFAULT_COLOR) if symbol is None else load_elements()[symbol]
    return Element(own.radius or known.radius, own.color or known.color)


def find_symbol(label: str) -> str | None:
    """Return the element symbol that a label means, or None."""
    elements = load_elements()
    text = label.strip()
    if text.isdecimal():
        number = int(text)
        return list(elements)[number - 1] if 1 <= number <= len(elements) else None
    symbol = text.rstrip("0123456789").capitalize()
    symbol = _ISOTOPES.get(symbol, symbol)
    return symbol if symbol in elements else None


def is_bead_mass(label: str, mass: float) -> bool:
    """Whether a mass in atomic mass units is that of a bead, not of the element that a label means:
    less than half or more than twice as much. Lighter ones than of beads are in other units."""
    symbol = find_symbol(label)
    if symbol is None or not LIGHTEST_BEAD < mass < 1e3:
        return False
    own = int(_MASSES.split()[list(load_elements()).index(symbol)])
    return not 0.5 * own <= mass <= 2.0 * own


@cache
def load_radii(kind: str) -> dict[str, float]:
    """Return the radius of each element by symbol, in angstrom; `kind` is one of `RADII`."""
    radii = {symbol: element.radius or 0.0 for symbol, element in load_elements().items()}
    if kind != "covalent":
        radii |= {symbol: int(radius) / 100.0 for symbol, radius in _split_entries(_VDW).items()}
    return radii


@cache
def load_colors(palette: str) -> dict[str, RGB]:
    """Return the colour of each element in "jmol", "cpk" or "vesta" by symbol, sRGB, 0..1."""
    colors = {symbol: element.color or DEFAULT_COLOR for symbol, element in load_elements().items()}
    if palette == "cpk":
        colors = dict.fromkeys(colors, _parse_rgb(_PINK))
    if palette != "jmol":
        entries = _split_entries(_CPK if palette == "cpk" else _VESTA)
        colors |= {symbol: _parse_rgb(digits) for symbol, digits in entries.items()}
    return colors


def _split_entries(text: str) -> dict[str, str]:
    return {entry.split()[0]: entry.split()[1] for entry in text.split(",")}


def _parse_rgb(digits: str) -> RGB:
    return parse_color(f"#{digits}")
