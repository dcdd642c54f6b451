"""The choices of problem, job and hardware, and the methods and guides that answer each."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from headroom.pages.source import Page
from headroom.records.methods import Method
from headroom.records.start_choices import Answers, Hardware, Job, Place, Problem
from headroom.site.site_data import SiteData

Kind = Literal["speed", "memory"]


@dataclass(frozen=True, slots=True)
class ProblemWords:
    """A problem's words on pages, and the gains that solve it."""

    title: str
    hint: str
    gains: tuple[Kind, ...]
    """The kinds of gain that solve it. With two kinds, a method that also answers `too-slow` is listed under speed."""
    signs: tuple[str, ...]
    """Words that mark a symptom of this problem."""


_FULL, _SLOW = ("memory", "fit", "large"), ("slow", "wait", "takes", "fast")
PROBLEMS: Mapping[Problem, ProblemWords] = MappingProxyType(
    {
        "out-of-memory": ProblemWords(
            "Out of memory", "`CUDA out of memory`, or the process is killed", ("memory",), _FULL
        ),
        "too-slow": ProblemWords("Too slow", "Steps are slow, or the GPU is partly idle", ("speed",), _SLOW),
        "will-it-fit": ProblemWords("Will it fit?", "Full fine-tuning, LoRA or QLoRA on this card", ("memory",), _FULL),
        "costs-too-much": ProblemWords(
            "Costs too much", "Fewer hours, or a smaller machine", ("speed", "memory"), (*_SLOW, *_FULL)
        ),
    }
)
JOBS: Mapping[Job, str] = MappingProxyType(
    {"fine-tuning": "fine-tuning", "pretraining": "pretraining", "inference": "inference"}
)
HARDWARE: Mapping[Hardware, str] = MappingProxyType(
    {"one-gpu": "one GPU", "several-gpus": "several GPUs", "cpu": "a CPU"}
)


@dataclass(frozen=True, slots=True)
class Choice:
    """A problem, a job and a kind of hardware."""

    problem: Problem
    job: Job
    hardware: Hardware

    @property
    def path(self) -> str:
        """The path of its ranked list below docs/."""
        return f"find/{self.problem}-{self.job}-{self.hardware}.md"

    @property
    def title(self) -> str:
        """The problem, job and hardware in words."""
        problem = PROBLEMS[self.problem].title.rstrip("?")
        return f"{problem}: {JOBS[self.job]} on {HARDWARE[self.hardware]}"

    @property
    def fills_one_gpu(self) -> bool:
        """Return whether its list is about the memory of training on one GPU."""
        return self.hardware == "one-gpu" and self.job != "inference" and "memory" in PROBLEMS[self.problem].gains

    def answered_by(self, answers: Answers | None) -> bool:
        """Tell whether a method or guide with these answers belongs to this choice."""
        return (
            answers is not None
            and self.problem in answers.problems
            and self.job in answers.jobs
            and self.hardware in answers.hardware
        )

    def methods(self, site: SiteData, place: Place = "ranked") -> list[Method]:
        """Return the methods of this choice with this place in its list."""
        every = site.tree.methods.values()
        return [
            each for each in every if self.answered_by(each.answers) and each.answers and each.answers.place == place
        ]

    def guides(self, site: SiteData) -> list[Page]:
        """Return the guides of this choice."""
        return [page for page in site.guides if self.answered_by(page.answers)]

    def symptom(self, method: Method) -> str:
        """Return the first symptom of a method that fits the problem, or else its first symptom."""
        signs = PROBLEMS[self.problem].signs
        return next((each for each in method.symptoms if any(sign in each for sign in signs)), method.symptoms[0])

    def section(self, method: Method) -> str:
        """Return the method's section for this hardware."""
        return method.elsewhere.get(self.hardware, method.section)


def of_site(site: SiteData) -> list[Choice]:
    """Return every choice with a method or a guide, in the order shown."""
    every = (Choice(problem, job, hardware) for problem in PROBLEMS for job in JOBS for hardware in HARDWARE)
    return [choice for choice in every if choice.methods(site) or choice.guides(site)]


def problems(site: SiteData) -> list[Problem]:
    """Return every problem with at least one choice."""
    return list(dict.fromkeys(choice.problem for choice in of_site(site)))


def problem_path(problem: Problem) -> str:
    """Return the path of a problem's page below docs/."""
    return f"find/{problem}.md"


def likely_class(site: SiteData, hardware: Hardware) -> str | None:
    """Return the class that represents a kind of hardware: the one with the most verdicts, then the most claims."""
    device = "cpu" if hardware == "cpu" else "cuda"
    named = [name for name, known in site.tree.classes.items() if known.device == device]

    def known(name: str) -> tuple[int, int]:
        standings = [found[name] for found in site.board.standings.values() if name in found]
        return sum(standing.verdict is not None for standing in standings), len(standings)

    return max(named, key=known, default=None)
