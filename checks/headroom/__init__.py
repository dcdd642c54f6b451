"""Headroom: documentation whose code has run and whose comparisons are measured.

The rooms of the package stand on floors, and a module imports only from floors below its own:
``files``, ``units``, ``statistics`` and ``environment`` know nothing of the project; ``records`` is what is written
down; ``verdicts`` and ``running`` are what is true; ``prose`` is what the text says; ``site`` and ``rules`` are what a
reader sees and what must hold; ``cli`` and the plugins are thin adapters to the world outside.
"""

__version__ = "0.1.0"
