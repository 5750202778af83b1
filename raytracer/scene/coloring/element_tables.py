"""More tables of the elements: van der Waals and metallic radii, CPK and VESTA colours.

Van der Waals radii: S. Alvarez, Dalton Transactions 42 (2013) 8617-8636, doi:10.1039/c3dt50599e.
Metallic radii, for 12 neighbours: N. N. Greenwood and A. Earnshaw, Chemistry of the Elements, 1997.
Elements missing from a table have their covalent radius.

CPK colours are RasMol's (R. Sayle), where all other elements are pink. VESTA's colours (K. Momma
and F. Izumi, J. Appl. Cryst. 44 (2011) 1272-1276) equal Jmol's except for the elements listed.
"""

from __future__ import annotations

from functools import cache

from raytracer.scene.colors import RGB
from raytracer.scene.elements import table

RADII = ("covalent", "vdw", "metallic")
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

_METALLIC = """
Li 155, Be 112, Na 190, Mg 160, Al 143, K 235, Ca 197, Sc 162, Ti 147, V 134, Cr 128, Mn 127,
Fe 126, Co 125, Ni 124, Cu 128, Zn 134, Ga 140, Ge 144, Rb 248, Sr 215, Y 180, Zr 160, Nb 146,
Mo 139, Tc 136, Ru 134, Rh 134, Pd 137, Ag 144, Cd 151, In 158, Sn 163, Sb 166, Cs 267, Ba 222,
La 187, Hf 159, Ta 146, W 139, Re 137, Os 135, Ir 136, Pt 139, Au 144, Hg 151, Tl 160, Pb 170,
Bi 178
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


@cache
def radii_of_elements(kind: str) -> dict[str, float]:
    """Return the radius of each element by symbol, in angstrom; `kind` is one of `RADII`."""
    radii = {symbol: element.radius or 0.0 for symbol, element in table().items()}
    if kind != "covalent":
        entries = _entries(_VDW if kind == "vdw" else _METALLIC)
        radii |= {symbol: int(radius) / 100.0 for symbol, radius in entries.items()}
    return radii


@cache
def colors_of_elements(palette: str) -> dict[str, RGB]:
    """Return the colour of each element by symbol, sRGB, 0..1.

    Args:
        palette: "jmol", "cpk" or "vesta".
    """
    colors = {symbol: element.color or (0.8, 0.8, 0.8) for symbol, element in table().items()}
    if palette == "cpk":
        colors = dict.fromkeys(colors, _rgb(_PINK))
    if palette != "jmol":
        entries = _entries(_CPK if palette == "cpk" else _VESTA)
        colors |= {symbol: _rgb(digits) for symbol, digits in entries.items()}
    return colors


def _entries(text: str) -> dict[str, str]:
    words = (entry.split() for entry in text.replace("\n", " ").split(","))
    return {symbol: value for symbol, value in words}  # noqa: C416 (dict() wants pairs)


def _rgb(digits: str) -> RGB:
    red, green, blue = (int(digits[i : i + 2], 16) / 255.0 for i in (0, 2, 4))
    return (red, green, blue)
