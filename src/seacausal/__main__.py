"""`python -m seacausal` is the command `seacausal`."""

from seacausal.cli import run

run()
