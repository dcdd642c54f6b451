"""Run the command as ``python -m headroom.cli``."""

from headroom.cli import command

command()
