"""The one piece of JavaScript: what ipywidgets leaves out for keyboards and screen readers.

A slider's handle has no name, and Notebook 7 takes its arrow keys away unless the handle itself says that it wants
them. A script put into the page by a widget does not run, but the error handler of an image does.
"""

from notebooks.panels.theme import DATA, INK, PAPER

_SCRIPT = """
const panel = this.closest('.llm-panel');
const mend = () => panel.querySelectorAll('.widget-slider, .jupyter-widget-slider').forEach(slider => {
  const handle = slider.querySelector('[role=slider]');
  const name = slider.querySelector('.widget-label')?.textContent;
  const words = slider.querySelector('.widget-readout')?.textContent;
  if (!handle) return;
  handle.setAttribute('data-lm-suppress-shortcuts', 'true');
  if (name) handle.setAttribute('aria-label', name);
  if (words) handle.setAttribute('aria-valuetext', words);
});
panel.querySelectorAll('.widget-html-content').forEach(view => view.setAttribute('aria-live', 'polite'));
new MutationObserver(mend).observe(panel, {childList: true, subtree: true});
mend();
"""

NAMES_AND_KEYS = f'<img src="data:," alt="" hidden onerror="{" ".join(_SCRIPT.split())}">'

ALERT_STYLE = f"padding:12px 16px;border-left:4px solid {DATA['orange']};color:{INK};background:{PAPER}"
