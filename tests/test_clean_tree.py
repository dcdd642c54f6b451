"""The clean tree uses every field and form, so that no rule passes because its input is missing."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from pydantic import BaseModel

from headroom.pages import quantifiers
from headroom.pages.calculations import Let, lets
from headroom.pages.link_targets import FIGURES, METHODS
from headroom.records import vllm_logs
from headroom.records.base import Record
from headroom.records.claims import CitedClaim, MeasuredClaim
from headroom.records.modelled_claims import ModelledClaim
from headroom.records.out_of_memory import PATH, QuotedErrors
from headroom.records.pictures import ErrorStrips, PictureData, PublishedCurve, PublishedCurves
from headroom.records.reported_claims import ReportedClaim
from headroom.rules import Context
from headroom.rules.code_blocks import PYTHON
from headroom.rules.passages import passages

CLEAN = Path(__file__).parent / "rule_cases" / "clean"
GENERATED = (
    *("headroom.records.public_schema", "headroom.records.pack_manifest"),
    *("headroom.records.memory_coefficients", "headroom.records.memory_errors"),
)
NOTHING = (None, "", (), [], {})
# Links are of machines with GPUs, and experts of runs with them: the project's own records and tests/planner have both.
ELSEWHERE = {("Machine", "links"), ("RunSettings", "expert")}


@cache
def context() -> Context:
    """Return the clean tree, loaded once."""
    return Context.of(CLEAN)


def kinds(kind: type[BaseModel] = Record) -> Iterator[type[BaseModel]]:
    """Yield every record class of a tree; published files, packs, traces, and two kinds of pictures, are not in it."""
    for each in kind.__subclasses__():
        generated = each.__module__ in GENERATED or each in (ErrorStrips, PublishedCurve, PublishedCurves)
        if each.__module__.startswith("headroom.") and not generated:
            yield each
            yield from kinds(each)


def records(value: Any) -> Iterator[BaseModel]:
    """Yield every record inside a value."""
    if isinstance(value, BaseModel):
        yield value
        value = {name: getattr(value, name) for name in type(value).model_fields}
    if isinstance(value, Mapping | list | tuple):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from records(each)


def declared(kind: type[BaseModel]) -> set[str]:
    """Return the fields that a class adds to its parent."""
    return set(kind.model_fields) - set(getattr(kind.__base__, "model_fields", ()))


@cache
def used_fields() -> frozenset[tuple[type[BaseModel], str]]:
    """Return every field that has a value other than its default in some record of the clean tree."""
    tree = context().tree
    parts = (
        tree.claims,
        [session.evidence for session in tree.sessions],
        tree.methods,
        tree.glossary,
        tree.classes,
        tree.facts,
        tree.shapes,
        tree.machines,
        tree.published.comparisons,
        tree.published.memory,
        tree.published.training,
        tree.step_time,
        tree.pictures,
        tree.families,
        QuotedErrors.model_validate(yaml.safe_load((CLEAN / PATH).read_text("utf-8"))),
        vllm_logs.read_logs(CLEAN),
    )
    return frozenset(
        (kind, name)
        for record in records(
            [
                *parts,
                tree.stand_ins,
                tree.environments,
                tree.cards.listed,
                tree.harness_versions,
                tree.measuring_order,
                tree.snippets,
                tree.runs,
            ]
        )
        for kind in type(record).__mro__
        if issubclass(kind, BaseModel)
        for name in declared(kind)
        if getattr(record, name) not in (*NOTHING, kind.model_fields[name].get_default(call_default_factory=True))
    )


@pytest.mark.parametrize("kind", [*kinds()], ids=lambda kind: kind.__name__)
def test_every_field_of_a_record_is_used(kind: type[BaseModel]) -> None:
    """Some record has a value for it that is neither its default nor empty."""
    unused = {name for name in declared(kind) if (kind, name) not in used_fields()}
    assert unused == {name for owner, name in ELSEWHERE if owner == kind.__name__}


class TestPages:
    """Page content that rules check."""

    def test_figures_of_every_kind_are_linked(self) -> None:
        """With and without a point, and facts."""
        targets = [target for _, _, target in context().claim_links]
        assert {target.figure for target in targets} == {None, *FIGURES}
        assert {bool(target.point) for target in targets if target.figure} == {True, False}
        assert any(link.href.startswith("fact:") for page in context().pages for link in page.links)

    def test_figures_are_calculated_in_every_form(self) -> None:
        """From numbers with units, facts, claims and other names, on the page and in a fold."""
        values = [let.text for page in context().pages for let in lets(page.markdown) if isinstance(let, Let)]
        forms = ("fact:", "claim:", "1 GB/s", "width/2")
        assert all(any(value.startswith(form) for value in values) for form in forms)
        hrefs = [link.href for page in context().pages for link in page.links]
        assert {form for form in ("calc:", "<calc:") for href in hrefs if href.startswith(form)} == {"calc:", "<calc:"}

    def test_claims_are_linked_with_every_title_and_without_words(self) -> None:
        """Every status except `cited`, `supported` and `agrees` is a title."""
        links = [link for page, link, target in context().claim_links if not target.figure]
        assert {link.title for link in links if link.text} == {
            None, "contradicted", "inconclusive", "flips", "disputed", "unmeasured", "retired", "disagrees",
        }  # fmt: skip
        assert not all(link.text for link in links)
        assert any(link.href.startswith(METHODS) and not link.text for page in context().pages for link in page.links)

    def test_claims_of_every_kind_are_linked(self) -> None:
        """Rules treat them differently."""
        claims = context().tree.claims
        kinds = {type(claims[target.claim]) for _, _, target in context().claim_links}
        assert kinds == {CitedClaim, MeasuredClaim, ModelledClaim, ReportedClaim}

    def test_pictures_of_every_kind_can_be_drawn(self) -> None:
        """And one of them is on a page."""
        pictures = context().tree.pictures
        assert {type(picture) for picture in pictures.values()} == {*get_args(get_args(PictureData)[0])} - {
            ErrorStrips,
            PublishedCurves,
        }
        hrefs = {link.href for page in context().pages for link in page.links}
        assert {f"picture:{name}" for name in pictures} & hrefs

    def test_pages_are_about_no_hardware_a_cpu_and_a_gpu(self) -> None:
        """One of them is a notebook."""
        assert {page.hardware for page in context().pages} == {(), ("cpu",), ("h200",)}
        assert {Path(page.path).suffix for page in context().pages} == {".md", ".ipynb"}

    def test_fences_are_of_every_kind(self) -> None:
        """Python and other languages, a region and a whole file, with a reason, in braces and nested."""
        fences = [fence for page in context().pages for fence in page.fences]
        includes = [include for fence in fences for include in fence.includes()]
        assert {fence.language in PYTHON for fence in fences} == {True, False}
        assert {bool(include.region) for include in includes} == {True, False}
        assert {bool(fence.reason) for fence in fences} == {True, False}
        assert any(fence.info.startswith("{") for fence in fences)
        assert any("```" in row for fence in fences for row in fence.body)

    @pytest.mark.parametrize("name", ["FREE", "ALWAYS", "PLACE"])
    def test_sentences_state_certainty_hardware_and_cost(self, name: str) -> None:
        """In a sentence whose claim confirms it."""
        assert any(getattr(quantifiers, name).search(passage.text) for passage in passages(context()))

    def test_sentences_state_sizes(self) -> None:
        """With a word, with the greatest figure of a sweep and with the smallest."""
        found = list(passages(context()))
        before = [claim.before for passage in found for claim in passage.claims if claim.target.figure]
        assert any(degree for passage in found for degree in quantifiers.degrees(passage.text))
        assert any(quantifiers.AT_MOST.search(text) for text in before)
        assert any(quantifiers.AT_LEAST.search(text) for text in before)

    def test_sections_are_named_by_their_headings_and_by_ids(self) -> None:
        """A method may name both kinds of anchors."""
        sections = {method.section for method in context().tree.methods.values()}
        assert {"training/gpu.md#how", "training/words.md#place"} <= sections
