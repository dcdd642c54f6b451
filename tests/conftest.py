"""Makes the module ``trees`` importable: under ``--import-mode=importlib`` no folder of tests is on the path."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
