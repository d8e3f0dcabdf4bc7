# SPDX-License-Identifier: BSD-3-Clause
"""Sphinx's settings for the site: nothing in it comes from the network."""

project = "Trefoil"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "Trefoil"
html_copy_source = False
html_show_copyright = False
html_show_search_summary = False  # would be read from a server
html_static_path = ["static"]
html_css_files = ["site.css"]
# Furo of Debian 12 has its dark colours only for readers who ask the page for them, not for those who asked their system.
html_theme_options = {"dark_css_variables": {
    "color-problematic": "#ee5151",
    "color-foreground-primary": "#ffffffcc",
    "color-foreground-secondary": "#9ca0a5",
    "color-foreground-muted": "#81868d",
    "color-foreground-border": "#666",
    "color-background-primary": "#131416",
    "color-background-secondary": "#1a1c1e",
    "color-background-hover": "#1e2124",
    "color-background-hover--transparent": "#1e212400",
    "color-background-border": "#303335",
    "color-background-item": "#444",
    "color-brand-primary": "#5a9cf0",
    "color-brand-content": "#5a9cf0",
    "color-highlighted-background": "#083563",
    "color-highlight-on-target": "#330",
}}
highlight_language = "none"
smartquotes = False
# Headings have the anchors that sites for repositories give them.
myst_heading_anchors = 6
suppress_warnings = ["misc.highlighting_failure"]
