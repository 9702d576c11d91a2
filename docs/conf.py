"""The site that `make docs` makes: guides, references, and every example with what it draws."""

import sys
from importlib.metadata import version as version_of
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from generate import generate  # noqa: E402

generate(Path(__file__).parent / "generated")

project = "Maquette"
author = "the authors of Maquette"
release = version = version_of("maquette-cluster")

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx_gallery.gen_gallery"]
exclude_patterns = ["generated"]
smartquotes = False

# The pages beside the guides are read on GitHub, too: so headings have the anchors that they have there.
myst_heading_anchors = 4

autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "abort_on_example_error": True,
    "capture_repr": (),
    "download_all_examples": False,
    "matplotlib_animations": True,
    "within_subsection_order": "FileNameSortKey",
    "show_signature": False,
}

html_theme = "pydata_sphinx_theme"
html_title = f"Maquette {release}"
html_static_path = ["_static"]
html_css_files = ["wide.css"]
html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": False, "secondary_sidebar_items": ["page-toc"]}
