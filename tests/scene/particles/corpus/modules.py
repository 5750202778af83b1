"""The modules that list kinds of files, each under the packages that write them."""

from scene.particles.corpus import (
    by_ase,
    by_chemfiles,
    by_codes,
    by_hand,
    by_mdanalysis,
    by_others,
    by_ovito,
    by_programs,
    by_series,
    by_sheets,
    by_tables,
    by_vtk,
)

__all__ = [
    "by_ase", "by_chemfiles", "by_codes", "by_hand", "by_mdanalysis", "by_others", "by_ovito",
    "by_programs", "by_series", "by_sheets", "by_tables", "by_vtk",
]  # fmt: skip
