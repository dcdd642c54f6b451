"""``python -m headroom.cli``: the command where it is not installed as one."""

import sys

from headroom.cli import main

sys.exit(main())
