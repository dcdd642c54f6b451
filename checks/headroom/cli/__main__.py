"""``python -m headroom.cli``: the command where it is not installed as one."""

from headroom.cli import command

command()
