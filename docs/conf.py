"""Builds the site: `sphinx-build -W --keep-going -b html docs build/docs`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "extensions"))
sys.path.insert(0, str(HERE.parent / "tests"))  # support.modules: who imports whom

import raytracer  # noqa: E402

project = "raytracer"
author = "The raytracer authors"
version = release = raytracer.__version__
project_copyright = author

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_click",
    "sphinx_copybutton",
    "command_examples",
    "included_pages",
    "package_drawing",
]
source_suffix = {".md": "markdown"}
nitpicky = False  # types of NumPy and of the standard library are not looked up in the net

# Anchors as the repository's host makes them, so that a link works in both places.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]

# Backquotes in docstrings are code, as in Markdown.
default_role = "code"
smartquotes = False  # "--" begins an option
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
# `render` has the settings of a render in its signature, not in its source.
autodoc_preserve_defaults = False
# Methods of public classes that other modules of the package call, not users.
_INTERNAL = (
    "automatic backward blank codes dithers edges keep linear lines "
    "material_of override pack pixels require_whole resolved_filter_radius rotated spread stops"
)
autodoc_default_options = {"exclude-members": ",".join(_INTERNAL.split())}
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_rtype = False

copybutton_prompt_text = r"\$ "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_title = "raytracer"
html_static_path = ["static"]
html_css_files = ["wide.css"]
html_show_sphinx = False
html_copy_source = False
templates_path: list[str] = []
exclude_patterns = ["extensions", "static"]


def _readable(app, what, name, value, options, signature, returned):  # type: ignore[no-untyped-def]
    """Write "..." for defaults that are made anew each time, and leave private fields out."""
    if signature is not None:
        signature = re.sub(r", _\w+: [^=]*=\s*<factory>", "", signature)
        signature = signature.replace("<factory>", "...")
    return signature, returned


def setup(app):  # type: ignore[no-untyped-def]
    """Connect what is too small for an extension."""
    app.connect("autodoc-process-signature", _readable)
