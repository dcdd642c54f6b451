"""What a reader can choose, in words, and which choices lead to something."""

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
    """A problem as pages tell of it, and what helps against it."""

    title: str
    hint: str
    gains: tuple[Kind, ...]
    """What a method makes better that helps. Where it is two, one that also answers `too-slow` counts for speed."""
    signs: tuple[str, ...]
    """Words of symptoms that speak of this problem."""


_FULL, _SLOW = ("memory", "fit", "large"), ("slow", "wait", "takes", "fast")
PROBLEMS: Mapping[Problem, ProblemWords] = MappingProxyType(
    {
        "out-of-memory": ProblemWords(
            "Out of memory", "`CUDA out of memory`, or the process is killed", ("memory",), _FULL
        ),
        "too-slow": ProblemWords("Too slow", "A step takes long, or the GPU is half idle", ("speed",), _SLOW),
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
    """One problem, one job and one kind of hardware."""

    problem: Problem
    job: Job
    hardware: Hardware

    @property
    def path(self) -> str:
        """The page of its ranked list, below docs/."""
        return f"find/{self.problem}-{self.job}-{self.hardware}.md"

    @property
    def title(self) -> str:
        """All three in words."""
        problem = PROBLEMS[self.problem].title.rstrip("?")
        return f"{problem}: {JOBS[self.job]} on {HARDWARE[self.hardware]}"

    def answered_by(self, answers: Answers | None) -> bool:
        """Whether a method or guide with these answers belongs into its list."""
        return (
            answers is not None
            and self.problem in answers.problems
            and self.job in answers.jobs
            and self.hardware in answers.hardware
        )

    def methods(self, site: SiteData, place: Place = "ranked") -> list[Method]:
        """The methods that answer it and have this place in its list."""
        every = site.tree.methods.values()
        return [
            each for each in every if self.answered_by(each.answers) and each.answers and each.answers.place == place
        ]

    def guides(self, site: SiteData) -> list[Page]:
        """The guides that answer it."""
        return [page for page in site.guides if self.answered_by(page.answers)]

    def symptom(self, method: Method) -> str:
        """The first symptom of a method that speaks of this problem, or else its first."""
        signs = PROBLEMS[self.problem].signs
        return next((each for each in method.symptoms if any(sign in each for sign in signs)), method.symptoms[0])

    def section(self, method: Method) -> str:
        """The section of a method that is written for this hardware."""
        return method.elsewhere.get(self.hardware, method.section)


def of_site(site: SiteData) -> list[Choice]:
    """Every choice that leads to a method or a guide, in the order in which choices are shown."""
    every = (Choice(problem, job, hardware) for problem in PROBLEMS for job in JOBS for hardware in HARDWARE)
    return [choice for choice in every if choice.methods(site) or choice.guides(site)]


def problems(site: SiteData) -> list[Problem]:
    """Every problem that something is written about."""
    return list(dict.fromkeys(choice.problem for choice in of_site(site)))


def problem_path(problem: Problem) -> str:
    """The page of a problem, below docs/."""
    return f"find/{problem}.md"


def likely_class(site: SiteData, hardware: Hardware) -> str | None:
    """The class that speaks for a kind of hardware: the one with the most verdicts, then the most claims about it."""
    device = "cpu" if hardware == "cpu" else "cuda"
    named = [name for name, known in site.tree.classes.items() if known.device == device]

    def known(name: str) -> tuple[int, int]:
        standings = [found[name] for found in site.board.standings.values() if name in found]
        return sum(standing.verdict is not None for standing in standings), len(standings)

    return max(named, key=known, default=None)
