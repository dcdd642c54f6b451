"""The start page's choices and the ranked lists behind them, made from the records of methods and guides."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from factories import write
from headroom.io.safe_read import UnreadableError
from headroom.pages.source import parse
from headroom.site import exports, method_finder
from headroom.site.method_finder import choices, start_page, symptoms_page
from headroom.site.method_finder.choices import Choice
from headroom.site.method_finder.gains import Ground, gain, price
from headroom.site.site_data import PageContext, SiteData

ROOT = Path(__file__).parents[2]
SLOW = {"problems": ["too-slow"], "jobs": ["fine-tuning"], "hardware": ["cpu", "one-gpu"]}
FULL = {**SLOW, "problems": ["out-of-memory"]}
METHODS: list[dict[str, Any]] = [
    {"id": "fast", "claims": {"speed": ["training.time"]}, "answers": SLOW},
    {"id": "vain", "claims": {"speed": ["training.slower", "training.brief"]}, "answers": SLOW},
    {"id": "open", "claims": {"speed": ["training.unmeasured"]}, "answers": SLOW},
    {"id": "told", "claims": {"speed": ["training.brief"]}, "answers": SLOW},
    {"id": "bare", "claims": {}, "answers": SLOW},
    {"id": "which", "claims": {}, "answers": {**SLOW, "place": "first"}},
    {"id": "rare", "claims": {}, "answers": {**SLOW, "place": "symptom"}},
    {"id": "lean", "claims": {"memory": ["training.memory", "training.sweep"]}, "answers": FULL},
    {
        "id": "dear",
        "claims": {"memory": ["training.memory"], "speed": ["training.time"]},
        "costs": ["training.time"],
        "elsewhere": {"cpu": "training/guide.md#on-a-cpu"},
        "answers": FULL,
    },
    {"id": "aside", "claims": {}},
]
CPU, GPU = (Choice("too-slow", "fine-tuning", kind) for kind in ("cpu", "one-gpu"))
FULL_CPU, FULL_GPU = (Choice("out-of-memory", "fine-tuning", kind) for kind in ("cpu", "one-gpu"))


def add_method(root: Path, **fields: Any) -> None:
    """One more record of a method."""
    name = fields["id"].capitalize()
    record = {
        "name": name,
        "symptoms": [f"{name} is missing"],
        "section": f"training/guide.md#{fields['id']}",
        **fields,
    }
    write(root / f"checks/methods/{fields['id']}.yml", yaml.safe_dump(record))


@pytest.fixture(scope="module")
def root(site_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small tree with methods, and with a citation that is told in brief."""
    tree = Path(shutil.copytree(site_root, tmp_path_factory.mktemp("finding") / "tree"))
    cited = yaml.safe_load((tree / "checks/registry/training/cited.yml").read_text("utf-8"))
    brief = {**cited, "id": "training.brief", "in_brief": "2.0x on 8 A100"}
    write(tree / "checks/registry/training/brief.yml", yaml.safe_dump(brief))
    for fields in METHODS:
        add_method(tree, **fields)
    return tree


@pytest.fixture(scope="module")
def found(root: Path) -> SiteData:
    """It, read and judged."""
    data = SiteData.load(root)
    assert not data.tree.problems
    return data


def method_names(text: str) -> list[str]:
    """The methods of the rows of a page's tables, in order."""
    return re.findall(r"^\| \*\*\[(\w+)\]", text, re.MULTILINE)


class TestChoices:
    def test_a_choice_is_there_where_something_answers_it(self, found: SiteData) -> None:
        """No other has a page, and none is an empty list."""
        assert choices.of_site(found) == [FULL_GPU, FULL_CPU, GPU, CPU]
        pages = method_finder.pages(found)
        problems = {choices.problem_path(problem) for problem in choices.problems(found)}
        assert {*pages} == {each.path for each in choices.of_site(found)} | problems | {symptoms_page.PAGE}
        assert all(method_names(pages[each.path]) for each in choices.of_site(found))

    def test_the_page_of_a_problem_says_what_is_missing(self, found: SiteData) -> None:
        """Jobs and hardware that nothing is written about are named, and not linked."""
        text = method_finder.pages(found)[choices.problem_path("too-slow")]
        assert "Not written yet: pretraining, inference, several GPUs." in text
        assert text.count("](") == 2

    def test_the_class_with_the_most_verdicts_speaks_for_its_kind(self, found: SiteData) -> None:
        """A kind that no class is of has none."""
        assert choices.likely_class(found, "cpu") == "cpu"
        assert choices.likely_class(found, "one-gpu") == "h200"


class TestOrder:
    def test_measured_then_cited_then_open_then_no_gain(self, found: SiteData) -> None:
        """On the hardware that was measured, whatever others report of a method."""
        assert method_names(method_finder.pages(found)[CPU.path]) == ["Fast", "Told", "Bare", "Open", "Vain"]

    def test_a_time_of_a_cpu_ranks_nothing_on_a_gpu(self, found: SiteData) -> None:
        """There the same methods wait for a measurement."""
        text = method_finder.pages(found)[GPU.path]
        assert method_names(text) == ["Told", "Vain", "Bare", "Fast", "Open"]
        assert "## Measured" not in text

    def test_bytes_carry_over_and_say_so(self, found: SiteData) -> None:
        """Under a heading of their own."""
        method = found.tree.methods["lean"]
        assert gain(found, method, "memory", "cpu").ground is Ground.MEASURED
        assert gain(found, method, "memory", "h200").ground is Ground.CARRIED_OVER
        assert "## Bytes counted on a CPU, the same on a GPU" in method_finder.pages(found)[FULL_GPU.path]

    def test_the_largest_gain_speaks(self, found: SiteData) -> None:
        """Of the claims of a method; between what it was found stands below."""
        best = gain(found, found.tree.methods["lean"], "memory", "cpu")
        assert best.claim is not None
        assert best.claim.id == "training.sweep"
        assert best.ratio > gain(found, _only(found, "training.memory"), "memory", "cpu").ratio > 1
        assert "×: clever, against plain</small>" in best.cell()

    def test_what_tells_which_is_right_stands_first(self, found: SiteData) -> None:
        """And what helps only with its symptom stands beside that, in no table."""
        text = method_finder.pages(found)[CPU.path]
        places = [text.index(each) for each in ("[Which]", "[Fast]", "[Rare]")]
        assert places == sorted(places)
        assert not {"Which", "Rare", "Aside"} & {*method_names(text)}

    def test_a_symptom_of_the_problem_is_told(self, found: SiteData) -> None:
        """A method that answers two problems has symptoms of both."""
        method = found.tree.methods["lean"].model_copy(update={"symptoms": ("memory grows", "training is slow")})
        assert [choice.symptom(method) for choice in (FULL_CPU, CPU)] == ["memory grows", "training is slow"]
        assert CPU.symptom(found.tree.methods["fast"]) == "Fast is missing"


def _only(found: SiteData, claim_id: str) -> Any:
    """The method `lean`, as if it had this claim alone."""
    return found.tree.methods["lean"].model_copy(update={"claims": {"memory": (claim_id,)}})


class TestPrice:
    def test_a_claim_that_praises_the_other_side_is_told_from_the_methods(self, found: SiteData) -> None:
        """Some fifth less time without it is some quarter more with it, and it is no gain."""
        method = found.tree.methods["dear"]
        assert "80.2\u00a0ms\u00a0→\u00a099.2\u00a0ms step time](claim:training.time)" in price(
            found, method, "memory", "cpu", "x.md"
        )
        assert gain(found, method, "speed", "cpu").claim is None

    def test_what_is_not_known_is_said(self, found: SiteData) -> None:
        """Of speed, of memory and of the result."""
        assert price(found, found.tree.methods["lean"], "memory", "cpu", "x.md").count("not measured") == 2
        dear = price(found, found.tree.methods["dear"], "memory", "h200", "x.md")
        assert dear.startswith("[step time](claim:training.time)")

    def test_readers_of_other_hardware_are_led_to_their_page(self, found: SiteData) -> None:
        """Where the method's record names one."""
        pages = method_finder.pages(found)
        assert "training/guide.md#on-a-cpu" in pages[FULL_CPU.path]
        assert "training/guide.md#on-a-cpu" not in pages[FULL_GPU.path]


class TestAddedLater:
    """Each by its own record alone."""

    @pytest.fixture
    def later(self, root: Path, tmp_path: Path) -> Callable[[], SiteData]:
        """The tree, to be changed and then read."""
        tree = Path(shutil.copytree(root, tmp_path / "tree"))
        late = {**SLOW, "hardware": ["several-gpus"]}
        write(tree / "docs/training/late.md", f"---\ntitle: Late\nanswers: {late}\n---\n\n# Late\n")
        add_method(tree, id="latest", claims={"memory": ["training.late"]}, answers={**FULL, "jobs": ["inference"]})
        record = yaml.safe_load((tree / "checks/registry/training/memory.yml").read_text("utf-8"))
        late_claim = {**record, "id": "training.late", "method": "latest"}
        write(tree / "checks/registry/training/late.yml", yaml.safe_dump(late_claim))
        return lambda: SiteData.load(tree)

    def test_a_method_with_its_claim_makes_its_choice(self, later: Callable[[], SiteData]) -> None:
        """Its list shows the claim, the problem's page and the start lead to the list."""
        data = later()
        choice = Choice("out-of-memory", "inference", "cpu")
        pages = exports.pages(data)
        assert "[](claim:training.late)" in pages[choice.path]
        assert "out-of-memory-inference-cpu.md" in pages[choices.problem_path("out-of-memory")]
        assert "Latest is missing" in pages[symptoms_page.PAGE]
        assert f"]({choice.path})" in "\n".join(start_page.with_parts(["[](start:choices)"], data, PageContext()))

    def test_a_guide_makes_its_choice(self, later: Callable[[], SiteData]) -> None:
        """Also where no method answers it yet."""
        text = exports.pages(later())[Choice("too-slow", "fine-tuning", "several-gpus").path]
        assert "- [Late](../training/late.md)" in text

    def test_a_guide_that_answers_no_known_choice_is_told(self) -> None:
        """With the field and where to read on."""
        with pytest.raises(UnreadableError, match=r"`answers.jobs.0` in the front matter"):
            parse("docs/a.md", "---\nanswers: {problems: [too-slow], jobs: [sleep], hardware: [cpu]}\n---\n\n# A\n")


class TestStart:
    def parts(self, found: SiteData, name: str) -> str:
        """One part of the start page."""
        return "\n".join(start_page.with_parts([f"[](start:{name})"], found, PageContext()))

    def test_choices_lead_to_every_page(self, found: SiteData) -> None:
        """Of problems and of lists, by links alone."""
        linked = set(re.findall(r"\]\((find/[^)]+)\)", self.parts(found, "choices")))
        assert linked == {path for path in method_finder.pages(found) if path != symptoms_page.PAGE}

    def test_figures_are_those_of_the_records(self, found: SiteData) -> None:
        """Each claim counts once."""
        text = self.parts(found, "figures")
        counts = [int(number) for number in re.findall(r"\*\*(\d+)\*\*", text)]
        assert counts[0] == 1  # the other snippet has not run
        assert counts[1] + counts[2] == len(found.tree.claims)
        assert counts[3] == len(found.tree.sessions)
        assert "2 cited, 1 still open" in text
        assert "last on 21\u00a0November\u00a02026" in text
        measured = re.findall(r"(\d+) (hold|depend on the size|contradicted|undecided)", text)
        assert sum(int(number) for number, _ in measured) == counts[1]

    def test_out_of_memory_is_led_on_by_where(self, found: SiteData) -> None:
        """What follows the message tells where, and each place names its methods."""
        methods = dict(found.tree.methods)
        where = methods["lean"].model_copy(update={"symptoms": ("CUDA out of memory, in the loss", "slow")})
        tree = type(found.tree)(
            **{**{f: getattr(found.tree, f) for f in found.tree.__slots__}, "methods": {"lean": where}}
        )
        data = SiteData(tree, found.board)
        text = self.parts(data, "out-of-memory")
        assert "| in the loss | [Lean](training/guide.md#lean) |" in text
        assert "slow" not in text

    def test_other_lines_stay(self, found: SiteData) -> None:
        """Also those that only look like a part."""
        lines = ["[](start:nothing)", "text [](start:figures)"]
        assert start_page.with_parts(lines, found, PageContext()) == lines


@pytest.fixture(scope="module")
def ours() -> SiteData:
    """The repository."""
    return SiteData.load(ROOT)


class TestOurOwn:
    def test_every_problem_leads_to_a_list_on_a_gpu_and_a_cpu(self, ours: SiteData) -> None:
        """For both jobs that guides are written about."""
        wanted = {
            Choice(problem, job, hardware)  # type: ignore[arg-type]
            for problem in choices.PROBLEMS
            for job in ("fine-tuning", "pretraining")
            for hardware in ("one-gpu", "cpu")
        }
        assert wanted <= {*choices.of_site(ours)}

    def test_every_cost_is_a_claim_of_the_other_side(self, ours: SiteData) -> None:
        """Its subject or its name says so: what a method costs is never told as its gain."""
        for method in ours.tree.methods.values():
            for kind in ("speed", "memory"):
                best = gain(ours, method, kind, "h200")
                assert best.claim is None or best.claim.id not in method.costs

    def test_the_largest_gain_of_a_ground_stands_first(self, ours: SiteData) -> None:
        """In every table of every list; and there are tables with several gains, so that it says something."""
        tables = [
            part for page in method_finder.pages(ours).values() for part in re.split(r"^#+ ", page, flags=re.MULTILINE)
        ]
        gains = [[float(each) for each in re.findall(r"<br><small>([\d.]+)×: ", part)] for part in tables]
        assert all(each == sorted(each, reverse=True) for each in gains)
        assert max(len(set(each)) for each in gains) > 2
