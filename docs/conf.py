"""Settings of the documentation.

With ``python -m pip install -e ".[docs]"`` it is built by
``python -m sphinx -W --keep-going -b html docs docs/_build/html``.
"""

import os
import re
import warnings
from importlib.metadata import metadata
from pathlib import Path

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx_gallery.sorting import FunctionSortKey

import vanishing

os.environ.setdefault("MPLBACKEND", "agg")

project = "vanishing"
author = "The vanishing developers"
copyright = author
version = release = vanishing.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
root_doc = "index"
exclude_patterns = ["_build", "api/backreferences"]
templates_path = ["_templates"]
default_role = "py:obj"
suppress_warnings = ["config.cache"]  # functions in the gallery's settings cannot be pickled

# -- Pages in Markdown ----------------------------------------------------------------------------

myst_enable_extensions = ["attrs_block", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
copybutton_exclude = ".linenos, .gp, .go"

# -- Reference ------------------------------------------------------------------------------------

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
# What scikit-learn gives every estimator is described there.
autosummary_context = {
    "hidden": [
        "fit_transform",
        "get_metadata_routing",
        "get_params",
        "score",
        "set_fit_request",
        "set_output",
        "set_params",
        "set_partial_fit_request",
        "set_predict_request",
        "set_score_request",
        "set_transform_request",
        # Of sequences, named tuples and integers.
        "as_integer_ratio",
        "bit_count",
        "bit_length",
        "conjugate",
        "count",
        "from_bytes",
        "index",
        "is_integer",
        "to_bytes",
    ]
}
_LITERAL = re.compile(r"(``.*?``|`[^`]*`)")


def _plain_text(app, what, name, obj, options, lines):
    """Let bars, as in |O|, and names that end with an underscore stand for themselves."""
    in_doctest = False
    for i, line in enumerate(lines):
        in_doctest = bool(line) and (in_doctest or line.lstrip().startswith(">>>"))
        if in_doctest:
            continue
        header, colon, rest = line.partition(" : ")
        if not colon:
            header, rest = "", line
        rest = re.sub(r"^(\s*[A-Z])\. ", r"\1\\. ", rest)  # initials are no list
        parts = _LITERAL.split(rest)
        parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
        parts[::2] = [re.sub(r"\b(\w+)_(?!\w)", r"\1\\_", part) for part in parts[::2]]
        lines[i] = header + colon + "".join(parts)


def _reference(app, pagename, templatename, context, doctree):
    """Hand the reference to its column of names: a question, and the names below it."""
    if not pagename.startswith("api"):
        return
    text = (Path(__file__).parent / "api.rst").read_text(encoding="utf-8")
    parts = re.split(r"^(\S.*)\n-{3,}$", text, flags=re.M)[1:]
    context["reference"] = [
        (question, re.findall(r"^   ([\w.]+)$", below, re.M))
        for question, below in zip(parts[::2], parts[1::2], strict=True)
    ]


# -- Gallery --------------------------------------------------------------------------------------


def _plain_figures(gallery_conf, fname):
    """Give all examples the same figures."""
    import matplotlib as mpl

    mpl.rcParams.update(
        {
            "axes.spines.right": False,
            "axes.spines.top": False,
            "figure.constrained_layout.use": True,
        }
    )


def _words_for_thumbnails(app, doctree):
    """Give the thumbnail of an example the example's title, for those who do not see it."""
    for image in doctree.findall(nodes.image):
        name = re.search(r"sphx_glr_(plot_\w+)_thumb", image["uri"])
        if name and not image.get("alt"):
            script = Path(__file__).parents[1] / "examples" / f"{name[1]}.py"
            title = script.read_text(encoding="utf-8").splitlines()[1]
            image["alt"] = f"Thumbnail of the example: {title}"


_ORDER = [
    "tour",
    "gas_law",
    "kepler",
    "thin_lens",
    "friction",
    "ellipse",
    "no_law",
    "pendulum",
    "orbits",
    "predator_prey",
    "chemostat",
    "epidemic",
    "chaos",
    "no_motion",
    "double_pendulum",
    "robot_arm",
    "two_surfaces",
    "wheat_seeds",
    "anomalies",
    "outliers_pump",
    "outliers_line",
    "outliers_thyroid",
    "repair_pump",
    "magnetometer",
]


def _place(filename):
    """Return the place of an example: as listed, others after that by name."""
    name = filename.removeprefix("plot_").removesuffix(".py")
    return (_ORDER.index(name) if name in _ORDER else len(_ORDER), name)


sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": "plot_",
    "within_subsection_order": FunctionSortKey(_place),
    "thumbnail_size": (480, 320),
    "reset_modules": ("matplotlib", _plain_figures),
    "backreferences_dir": "api/backreferences",
    "doc_module": ("vanishing",),
    "show_signature": False,
    "download_all_examples": False,
    "write_computation_times": False,
    "min_reported_time": 1e6,
    "remove_config_comments": True,
    "abort_on_example_error": False,
    "only_warn_on_example_error": False,
}
# A warning in an example is printed there; these are none of the reader's business.
warnings.filterwarnings("ignore", message=".*non-interactive.*", category=UserWarning)

# -- Pages in HTML --------------------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_title = "vanishing"
html_static_path = ["_static"]
html_css_files = ["vanishing.css"]
html_theme_options = {
    "logo": {"text": "vanishing"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 8,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
# Only the reference has a column of names beside it: code and figures are wide.
html_sidebars = {page.stem: [] for page in Path(__file__).parent.glob("*.md")}
html_sidebars |= {"gallery/*": [], "api": ["reference"], "api/generated/*": ["reference"]}
# The address of the source, once there is one (CONTRIBUTING.md, "Give the project its address").
_urls = dict(url.split(", ", 1) for url in metadata("vanishing").get_all("Project-URL"))
if "example.org" not in _urls["Source"]:
    html_theme_options["icon_links"] = [
        {"name": "Source", "url": _urls["Source"], "icon": "fa-solid fa-code"}
    ]
html_show_sourcelink = False
html_copy_source = False

# Formulas as MathML, which browsers draw by themselves: no script from elsewhere is needed.
html_math_renderer = "mathml"


def _mathml(as_block):
    def visit(translator, node):
        formula = tex2mathml(node.astext(), as_block=as_block)
        translator.body.append(f'<div class="formula">{formula}</div>' if as_block else formula)
        raise nodes.SkipNode

    return visit


def setup(app):
    """Add what is defined here."""
    app.connect("autodoc-process-docstring", _plain_text, priority=100)  # before numpydoc
    app.connect("doctree-read", _words_for_thumbnails)
    app.connect("html-page-context", _reference)
    app.add_html_math_renderer("mathml", (_mathml(False), None), (_mathml(True), None))
    return {"parallel_read_safe": True}
