"""Every loader, and the file of the clean tree that attacks are made from.

A hostile file is added next to the clean one under another name, so that the clean tree stays complete.
If a tree can have only one such file, the hostile file replaces it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

CLEAN = Path(__file__).parents[1] / "rule_cases" / "clean"


@dataclass(frozen=True, slots=True)
class Loader:
    """A loader of one kind of file."""

    kind: str
    """The grammar: yaml, json, script, bare (a script without a header), page, notebook or config."""
    source: str
    """A file of the clean tree, as a pattern."""
    path: str
    """The path of the hostile file."""
    rule: str
    """The rule that reports its problems."""
    renamed: tuple[str, str] = ("", "")
    """The edit that gives the copied record its own id."""

    @property
    def clean(self) -> str:
        """Return the text that attacks are made from."""
        (path,) = CLEAN.glob(self.source)
        return path.read_text("utf-8").replace(*self.renamed)

    @property
    def alone(self) -> bool:
        """Return whether a tree can have only one such file."""
        return self.source == self.path


LOADERS: Mapping[str, Loader] = {
    "claims": Loader(
        "yaml",
        "checks/registry/training/clever-step-time.yml",
        "checks/registry/training/hostile.yml",
        "claims",
        ("id: training.clever.step-time", "id: training.hostile"),
    ),
    "models": Loader(
        "yaml",
        "checks/registry/training/clever-kept-model.yml",
        "checks/registry/training/hostile-model.yml",
        "claims",
        ("id: training.clever.kept-model", "id: training.hostile-model"),
    ),
    "evidence": Loader(
        "json",
        "checks/evidence/small_step/cpu-*.json",
        "checks/evidence/small_step/cpu-2026-11-20-000000000000.json",
        "evidence",
    ),
    "machines": Loader(
        "json",
        "checks/machines/h200-*.json",
        "checks/machines/h200-2026-11-20-000000000000.json",
        "machines",
    ),
    "methods": Loader(
        "yaml", "checks/methods/others.yml", "checks/methods/hostile.yml", "methods", ("id: others", "id: hostile")
    ),
    "glossary": Loader("yaml", "checks/glossary/words.yml", "checks/glossary/words.yml", "glossary"),
    "facts": Loader(
        "yaml",
        "checks/facts/number-formats.yml",
        "checks/facts/hostile.yml",
        "facts",
        ("id: number-formats", "id: hostile"),
    ),
    "classes": Loader("yaml", "checks/facts/hardware-classes.yml", "checks/facts/hardware-classes.yml", "facts"),
    "stand-ins": Loader("yaml", "checks/facts/stand-ins.yml", "checks/facts/stand-ins.yml", "facts"),
    "snippets": Loader("script", "snippets/training/clever.py", "snippets/training/hostile.py", "snippets"),
    "runs": Loader(
        "json",
        "checks/runs/training/clever/cpu.json",
        "checks/runs/training/clever/h200.json",
        "runs",
        ('"hardware_class": "cpu"', '"hardware_class": "h200"'),
    ),
    "benchmarks": Loader("bare", "checks/benchmarks/small_step.py", "checks/benchmarks/hostile.py", "benchmarks"),
    "pages": Loader("page", "docs/training/cpu.md", "docs/training/hostile.md", "pages"),
    "notebooks": Loader("notebook", "docs/concepts/counting.ipynb", "docs/concepts/hostile.ipynb", "pages"),
    "configuration": Loader("config", "mkdocs.yml", "mkdocs.yml", "orphans"),
}
