"""Every word that a user reads passes through `_`, so another language is a catalog and not an edit."""

import gettext
from pathlib import Path

_ = gettext.translation("llm_gen", localedir=Path(__file__).parent / "locale", fallback=True).gettext
