"""python -m llm_gen chat | generate | compare | info"""

import sys

from llm_gen.cli import main

if __name__ == "__main__":
    sys.exit(main())
