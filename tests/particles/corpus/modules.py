"""Imports the modules that list kinds of files, each under the packages that write them."""

from importlib import import_module

NAMES = (
    "by_ase", "by_chemfiles", "by_codes", "by_hand", "by_mdanalysis", "by_others", "by_ovito",
    "by_programs", "by_series", "by_sheets", "by_tables", "by_vtk",
)  # fmt: skip

for name in NAMES:
    import_module(f"{__package__}.{name}")
