# SPDX-License-Identifier: BSD-3-Clause
"""Sphinx's settings for the site: nothing in it comes from the network."""

project = "Trefoil"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "Trefoil"
html_copy_source = False
html_show_copyright = False
html_static_path = ["static"]
html_css_files = ["site.css"]
highlight_language = "none"
# Headings have the anchors that sites for repositories give them.
myst_heading_anchors = 6
suppress_warnings = ["misc.highlighting_failure"]
