"""The colours of every panel: each role as CSS, which follows the reader's theme, and as a fixed value for the PNG.

The data colours have a contrast of at least 3:1 on white and on #111, and never carry a meaning alone.
"""

DATA = {
    "blue": "#0072B2",
    "grey": "#7F7F7F",
    "orange": "#D55E00",
    "green": "#009E73",
    "purple": "#CC79A7",
}
# "white" is for words on a data colour, in both themes.
PRINTED = {
    "ink": "#212121",
    "paper": "#FFFFFF",
    "muted": "#616161",
    "rule": "#DEDEDE",
    "white": "#FFFFFF",
    **DATA,
}
CSS = {**PRINTED, **{role: f"var(--{role})" for role in ("ink", "paper", "muted", "rule")}}

# JupyterLab and Notebook define the first variable, VS Code the second; elsewhere the last value holds.
INK = "var(--jp-content-font-color1,var(--vscode-editor-foreground,#212121))"
PAPER = "var(--jp-layout-color0,var(--vscode-editor-background,#fff))"
VARIABLES = (
    f"--ink:{INK};--paper:{PAPER};"
    "--muted:color-mix(in srgb,var(--ink) 72%,var(--paper));"
    "--rule:color-mix(in srgb,var(--ink) 15%,var(--paper))"
)

SANS = "var(--jp-ui-font-family,system-ui,sans-serif)"
MONO = "var(--jp-code-font-family,ui-monospace,monospace)"
