"""The method finder: choices of the start page, problem pages and ranked lists."""

import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from itertools import chain
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
from headroom.site.method_finder.gains import Ground, cost, gain
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
    """Write a method's record."""
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
    """Return the small tree with methods, and a citation with `in_brief`."""
    tree = Path(shutil.copytree(site_root, tmp_path_factory.mktemp("finding") / "tree"))
    cited = yaml.safe_load((tree / "checks/registry/training/cited.yml").read_text("utf-8"))
    brief = {**cited, "id": "training.brief", "in_brief": "2.0x on 8 A100"}
    write(tree / "checks/registry/training/brief.yml", yaml.safe_dump(brief))
    for fields in METHODS:
        add_method(tree, **fields)
    return tree


@pytest.fixture(scope="module")
def found(root: Path) -> SiteData:
    """Return the tree with its verdicts."""
    data = SiteData.load(root)
    assert not data.tree.problems
    return data


def method_names(text: str) -> list[str]:
    """Return the methods in a page's tables, in order."""
    return re.findall(r"^\| \*\*\[(\w+)\]", text, re.MULTILINE)


class TestChoices:
    def test_a_choice_exists_if_a_method_or_guide_answers_it(self, found: SiteData) -> None:
        """No list is empty."""
        assert choices.of_site(found) == [FULL_GPU, FULL_CPU, GPU, CPU]
        pages = method_finder.pages(found)
        problems = {choices.problem_path(problem) for problem in choices.problems(found)}
        assert {*pages} == {each.path for each in choices.of_site(found)} | problems | {symptoms_page.PAGE}
        assert all(method_names(pages[each.path]) for each in choices.of_site(found))

    def test_a_problems_page_names_missing_jobs_and_hardware(self, found: SiteData) -> None:
        """They have no links."""
        text = method_finder.pages(found)[choices.problem_path("too-slow")]
        assert "Not written yet: pretraining, inference, several GPUs." in text
        assert text.count("](") == 2

    def test_the_class_with_the_most_verdicts_represents_its_kind(self, found: SiteData) -> None:
        """A kind without classes has none."""
        assert choices.likely_class(found, "cpu") == "cpu"
        assert choices.likely_class(found, "one-gpu") == "h200"


class TestOrder:
    def test_the_order_is_measured_cited_unmeasured_no_gain(self, found: SiteData) -> None:
        """Methods without any figure are a list below the tables."""
        text = method_finder.pages(found)[CPU.path]
        assert method_names(text) == ["Fast", "Told", "Vain"]
        assert text.index("**[Told]") < text.index("is missing: **[Bare]") < text.index("is missing: **[Open]")
        assert "not measured" not in text

    def test_cpu_times_do_not_rank_methods_on_a_gpu(self, found: SiteData) -> None:
        """On the GPU the methods are unmeasured."""
        text = method_finder.pages(found)[GPU.path]
        assert method_names(text) == ["Told", "Vain"]
        assert "is missing: **[Fast]" in text
        assert "## Measured" not in text

    def test_carried_over_bytes_have_their_own_heading(self, found: SiteData) -> None:
        """Check the GPU's list."""
        method = found.tree.methods["lean"]
        assert gain(found, method, "memory", "cpu").ground is Ground.MEASURED
        assert gain(found, method, "memory", "h200").ground is Ground.CARRIED_OVER
        assert "## Bytes counted on a CPU, for small models" in method_finder.pages(found)[FULL_GPU.path]

    @pytest.mark.parametrize(("reason", "ground"), [("failed_runs", Ground.UNMEASURED), ("wide", Ground.NOT_SHOWN)])
    def test_a_session_that_failed_a_gate_is_no_result(self, found: SiteData, reason: str, ground: Ground) -> None:
        """One that counts and does not decide shows no gain."""
        method, standings = found.tree.methods["fast"], found.board.standings
        known = replace(standings["training.time"]["cpu"], status="inconclusive", reason=reason)
        board = replace(found.board, standings={**standings, "training.time": {"cpu": known}})
        assert gain(found, method, "speed", "cpu").ground is Ground.MEASURED
        assert gain(replace(found, board=board), method, "speed", "cpu").ground is ground

    def test_a_method_shows_the_first_claim_of_its_record(self, found: SiteData) -> None:
        """Its claims have different baselines, so the largest ratio says nothing."""
        best = gain(found, found.tree.methods["lean"], "memory", "cpu")
        assert best.claim is not None
        assert best.claim.id == "training.memory"
        assert "<small>clever, against plain</small>" in best.cell()

    def test_a_closed_form_orders_methods_and_variants_by_bytes_per_parameter(self, found: SiteData) -> None:
        """Their measured ratios do not move them."""
        small, large = ({"weights": weights, "gradients": 2, "optimizer": 4, "of": "bf16"} for weights in (2, 4))
        lean = found.tree.methods["lean"]
        varied = lean.model_validate(
            {**lean.model_dump(), "state_bytes": large, "variants": ({"name": "Leaner", "state_bytes": small},)}
        )
        tree = replace(found.tree, methods={**found.tree.methods, "lean": varied})
        text = method_finder.pages(replace(found, tree=tree))[FULL_CPU.path]
        assert "| 2 + 2 + 4 = **8** | bf16 |" in text
        assert method_names(text) == ["Leaner", "Lean", "Dear"]

    def test_diagnoses_come_first_and_symptom_fixes_apart(self, found: SiteData) -> None:
        """Neither is in a table."""
        text = method_finder.pages(found)[CPU.path]
        places = [text.index(each) for each in ("[Which]", "[Fast]", "[Rare]")]
        assert places == sorted(places)
        assert not {"Which", "Rare", "Aside"} & {*method_names(text)}

    def test_the_symptom_shown_fits_the_problem(self, found: SiteData) -> None:
        """A method that answers two problems has symptoms of both."""
        method = found.tree.methods["lean"].model_copy(update={"symptoms": ("memory grows", "training is slow")})
        assert [choice.symptom(method) for choice in (FULL_CPU, CPU)] == ["memory grows", "training is slow"]
        assert CPU.symptom(found.tree.methods["fast"]) == "Fast is missing"


def _only(found: SiteData, claim_id: str) -> Any:
    """Return the method `lean` with this claim alone."""
    return found.tree.methods["lean"].model_copy(update={"claims": {"memory": (claim_id,)}})


class TestCost:
    def test_a_claim_against_the_method_has_its_arms_swapped(self, found: SiteData) -> None:
        """A fifth less time without the method is a quarter more with it."""
        method = found.tree.methods["dear"]
        assert "80.2\u00a0ms\u00a0→\u00a099.2\u00a0ms step time](claim:training.time)" in cost(
            found, method, "memory", "cpu", "x.md"
        )
        assert gain(found, method, "speed", "cpu").claim is None

    def test_unknown_effects_are_left_out(self, found: SiteData) -> None:
        """A method without any known effect has a dash, which the page explains."""
        assert cost(found, found.tree.methods["lean"], "memory", "cpu", "x.md") == "–"
        assert cost(found, found.tree.methods["dear"], "memory", "h200", "x.md") == "–"
        assert "“–” means that nothing is known" in method_finder.pages(found)[FULL_CPU.path]

    def test_other_hardware_links_to_its_own_section(self, found: SiteData) -> None:
        """The method's record names the section."""
        pages = method_finder.pages(found)
        assert "training/guide.md#on-a-cpu" in pages[FULL_CPU.path]
        assert "training/guide.md#on-a-cpu" not in pages[FULL_GPU.path]


class TestAddedLater:
    """New records and pages need no other edit."""

    @pytest.fixture
    def later(self, root: Path, tmp_path: Path) -> Callable[[], SiteData]:
        """Return a function that reads the tree after changes."""
        tree = Path(shutil.copytree(root, tmp_path / "tree"))
        late = {**SLOW, "hardware": ["several-gpus"]}
        write(tree / "docs/training/late.md", f"---\ntitle: Late\nanswers: {late}\n---\n\n# Late\n")
        add_method(tree, id="latest", claims={"memory": ["training.late"]}, answers={**FULL, "jobs": ["inference"]})
        record = yaml.safe_load((tree / "checks/registry/training/memory.yml").read_text("utf-8"))
        late_claim = {**record, "id": "training.late", "method": "latest"}
        write(tree / "checks/registry/training/late.yml", yaml.safe_dump(late_claim))
        return lambda: SiteData.load(tree)

    def test_a_new_method_creates_its_choice(self, later: Callable[[], SiteData]) -> None:
        """Its list shows the claim; the problem's page and the start page link to it."""
        data = later()
        choice = Choice("out-of-memory", "inference", "cpu")
        pages = exports.pages(data)
        assert "[](claim:training.late)" in pages[choice.path]
        assert "out-of-memory-inference-cpu.md" in pages[choices.problem_path("out-of-memory")]
        assert "Latest is missing" in pages[symptoms_page.PAGE]
        assert f"]({choice.path})" in "\n".join(start_page.with_parts(["[](start:choices)"], data, PageContext()))

    def test_a_new_guide_creates_its_choice(self, later: Callable[[], SiteData]) -> None:
        """No method needs to answer the choice."""
        text = exports.pages(later())[Choice("too-slow", "fine-tuning", "several-gpus").path]
        assert "- [Late](../training/late.md)" in text

    def test_a_guide_with_an_unknown_choice_is_reported(self) -> None:
        """The message names the field and where to read on."""
        with pytest.raises(UnreadableError, match=r"`answers.jobs.0` in the front matter"):
            parse("docs/a.md", "---\nanswers: {problems: [too-slow], jobs: [sleep], hardware: [cpu]}\n---\n\n# A\n")


class TestStart:
    def parts(self, found: SiteData, name: str) -> str:
        """Return one part of the start page."""
        return "\n".join(start_page.with_parts([f"[](start:{name})"], found, PageContext()))

    def test_choices_link_to_every_page(self, found: SiteData) -> None:
        """Check problem pages and lists."""
        linked = set(re.findall(r"\]\((find/[^)]+)\)", self.parts(found, "choices")))
        assert linked == {path for path in method_finder.pages(found) if path != symptoms_page.PAGE}

    def test_the_figures_equal_the_records(self, found: SiteData) -> None:
        """Each claim counts once, by its evidence."""
        text = self.parts(found, "figures") + self.parts(found, "scope")
        cpu, gpu, reported, computed = map(int, re.findall(r"\*\*(\d+)\*\*", text))
        assert (gpu, reported) == (0, 0)
        assert cpu + computed + 2 + 1 == len(found.tree.claims)
        assert "2 cited claims, 1 without a result yet" in text
        assert "1 snippets run" in text  # the other snippet has not run
        assert f"[{len(found.tree.sessions)} sessions]" in text
        assert "last on 21\u00a0November\u00a02026" in text
        assert "Scope: " in text

    def test_out_of_memory_symptoms_are_in_the_order_of_a_run(self, ours: SiteData) -> None:
        """Each has one bold link, whole also where a method's name has a comma."""
        rows = [line for line in self.parts(ours, "out-of-memory").splitlines() if "](" in line]
        places = [next(i for i, row in enumerate(rows) if word in row) for word in ("loading", "forward", "optimizer")]
        assert places == sorted(places)
        assert {len(re.findall(r"\*\*\[[^]]+\]\([^)]+\)\*\*", row)) for row in rows} == {1}

    def test_out_of_memory_symptoms_link_to_their_methods(self, found: SiteData) -> None:
        """The text after the message tells where memory runs out."""
        methods = dict(found.tree.methods)
        where = methods["lean"].model_copy(update={"symptoms": ("CUDA out of memory, in the loss", "slow")})
        tree = type(found.tree)(
            **{**{f: getattr(found.tree, f) for f in found.tree.__slots__}, "methods": {"lean": where}}
        )
        data = SiteData(tree, found.board)
        text = self.parts(data, "out-of-memory")
        assert "| in the loss | **[Lean](training/guide.md#lean)** |" in text
        assert "slow" not in text

    def test_other_lines_are_unchanged(self, found: SiteData) -> None:
        """Include lines that resemble a part."""
        lines = ["[](start:nothing)", "text [](start:figures)"]
        assert start_page.with_parts(lines, found, PageContext()) == lines


@pytest.fixture(scope="module")
def ours() -> SiteData:
    """Return the repository's site."""
    return SiteData.load(ROOT)


class TestOurOwn:
    def test_every_problem_has_a_list_for_gpu_and_cpu(self, ours: SiteData) -> None:
        """Check both jobs with guides."""
        wanted = {
            Choice(problem, job, hardware)  # type: ignore[arg-type]
            for problem in choices.PROBLEMS
            for job in ("fine-tuning", "pretraining")
            for hardware in ("one-gpu", "cpu")
        }
        assert wanted <= {*choices.of_site(ours)}

    def test_every_cost_is_a_claim_for_the_alternative(self, ours: SiteData) -> None:
        """A method's cost must not count as its gain."""
        for method in ours.tree.methods.values():
            for kind in ("speed", "memory"):
                best = gain(ours, method, kind, "h200")
                assert best.claim is None or best.claim.id not in method.costs

    def test_no_list_ranks_a_method_that_only_costs(self, ours: SiteData) -> None:
        """A method that is slower and needs more memory answers none of the problems."""
        ranked = {method.id: method for choice in choices.of_site(ours) for method in choice.methods(ours)}
        known = {name: {*chain(*method.claims.values())} for name, method in ranked.items()}
        assert [name for name, claims in known.items() if claims and claims <= {*ranked[name].costs}] == []

    def test_qlora_leads_the_list_for_fine_tuning_that_runs_out_of_memory(self, ours: SiteData) -> None:
        """It needs the fewest bytes per parameter; no list is sorted by the ratios of small models."""
        path = Choice("out-of-memory", "fine-tuning", "one-gpu").path
        found = re.findall(r"\*\*\[([^]]+)\].* \*\*([\d.]+)\*\* \|", method_finder.pages(ours)[path])
        assert [name for name, _ in found[:2]] == ["QLoRA", "LoRA"]
        totals = [float(total) for _, total in found]
        assert totals == sorted(totals)
        assert len(totals) > 5

    def test_reported_results_stand_in_gpu_lists_alone(self, ours: SiteData) -> None:
        """A rate on an A100 says nothing about a CPU."""
        pages = method_finder.pages(ours)
        heading = "## Reported by others"
        assert heading in pages[Choice("too-slow", "fine-tuning", "one-gpu").path]
        assert heading not in pages[Choice("too-slow", "fine-tuning", "cpu").path]
