"""`python -m seacausal` is the command `seacausal`."""

import sys

from seacausal.cli import main

sys.exit(main())
