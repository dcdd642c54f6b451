"""Pages: front matter, links and fences with their positions, link targets, and the values of figures."""

from pathlib import Path

import pytest

from headroom.io.safe_read import UnreadableError
from headroom.pages.link_targets import FIGURES, ClaimTarget, FactTarget, parse_target
from headroom.pages.measured_figures import measured
from headroom.pages.source import Fence, Include, Link, load_pages, parse
from headroom.rules import Context

CLEAN = Path(__file__).parent / "rule_cases" / "clean"


@pytest.fixture(scope="module")
def context() -> Context:
    """The clean tree, judged."""
    return Context.of(CLEAN)


def links(text: str) -> tuple[Link, ...]:
    """Return the links of a page with this source."""
    return parse("docs/page.md", text).links


def fence(text: str) -> Fence:
    """Return the only fence of a page with this source."""
    (found,) = parse("docs/page.md", text).fences
    return found


class TestFrontMatter:
    """The front matter of a page."""

    def test_values_become_metadata_and_hardware_a_tuple(self) -> None:
        """Hardware is a tuple of classes."""
        page = parse("docs/page.md", "---\ntitle: One\nhardware: [h200, cpu]\n---\n\n# One\n")
        assert page.meta == {"title": "One", "hardware": ["h200", "cpu"]}
        assert page.hardware == ("h200", "cpu")

    def test_one_class_needs_no_list(self) -> None:
        """One class needs no brackets."""
        assert parse("docs/page.md", "---\nhardware: h200\n---\n").hardware == ("h200",)

    @pytest.mark.parametrize("value", ["", " []", " null"])
    def test_empty_hardware_names_no_class(self, value: str) -> None:
        """An empty value is not a class called None."""
        assert parse("docs/page.md", f"---\nhardware:{value}\n---\n").hardware == ()

    def test_is_optional(self) -> None:
        """A page without front matter has no hardware; a later rule `---` does not open front matter."""
        page = parse("docs/page.md", "# One\n\n---\nhardware: h200\n---\n")
        assert page.meta == {}
        assert page.hardware == ()

    @pytest.mark.parametrize(
        ("front", "line"),
        [("- one\n- two\n", 1), ("title: one\ntitle: two\n", 3), ("title: [one\n", 3), ("a: &x 1\n", 2)],
    )
    def test_invalid_front_matter_is_reported_with_its_line(self, front: str, line: int) -> None:
        """Front matter must be a mapping."""
        with pytest.raises(UnreadableError) as caught:
            parse("docs/page.md", f"---\n{front}---\n\nText.\n")
        assert caught.value.line == line

    def test_an_unreadable_page_does_not_hide_the_others(self, tmp_path: Path) -> None:
        """The other pages and all problems are returned."""
        (tmp_path / "docs" / "folder").mkdir(parents=True)
        (tmp_path / "docs" / "a.md").write_text("---\n- one\n---\n", "utf-8")
        (tmp_path / "docs" / "b.md").write_bytes(b"\xff\xfe")
        (tmp_path / "docs" / "folder" / "c.md").write_text("[x](claim:a.b)\n", "utf-8")
        pages, problems = load_pages(tmp_path)
        assert [page.path for page in pages] == ["docs/folder/c.md"]
        assert [(problem.path, problem.rule) for problem in problems] == [
            ("docs/a.md", "pages"),
            ("docs/b.md", "pages"),
        ]


class TestLinks:
    """Links, each with its position in the source."""

    def test_has_line_text_title_and_span(self) -> None:
        """The span is that of the link's text."""
        text = '---\ntitle: x\n---\n\nA [1.9×](claim:a.b#ratio@h200) and\n[worse](claim:a.c "contradicted").\n'
        first, second = links(text)
        assert (first.line, first.text, first.href, first.title) == (5, "1.9×", "claim:a.b#ratio@h200", None)
        assert (second.line, second.text, second.href, second.title) == (6, "worse", "claim:a.c", "contradicted")
        assert [text[link.start : link.end] for link in (first, second)] == ["1.9×", "worse"]

    @pytest.mark.parametrize(
        "text",
        ["", "**bold**", "an [inner] bracket", "`code`", "`a[0]` of it", "two\nlines", "1.9×", "a `]` b"],
    )
    def test_text_may_hold(self, text: str) -> None:
        """The text of a link is everything between its brackets."""
        assert [link.text for link in links(f"So [{text}](claim:a.b) it is.\n")] == [text]

    @pytest.mark.parametrize(
        "text",
        [
            "`[x](claim:a.b)`",
            "``a ` [x](claim:a.b)``",
            "<!-- [x](claim:a.b) -->",
            "<!--\n[x](claim:a.b)\n-->",
            "```text\n[x](claim:a.b)\n```",
            "~~~\n[x](claim:a.b)\n~~~",
            "!!! note\n\n    ```text\n    [x](claim:a.b)\n    ```",
            "````markdown\n```text\n[x](claim:a.b)\n```\n[x](claim:a.b)\n````",
        ],
    )
    def test_code_and_comments_have_no_links(self, text: str) -> None:
        """Code and comments also hide no link after them."""
        assert [link.href for link in links(f"{text}\n\n[y](claim:c.d)\n")] == ["claim:c.d"]

    def test_is_found_between_stray_backticks_of_two_paragraphs(self) -> None:
        """Inline code does not cross a paragraph."""
        assert len(links("The ` mark.\n\n[y](claim:c.d)\n\nAnother ` mark.\n")) == 1

    def test_links_of_a_table_row_keep_their_order(self) -> None:
        """Each link of the row is found."""
        found = links("| [a](claim:a.a) | [](claim:b.b) | [c](fact:s.c) |\n")
        assert [(link.text, link.href) for link in found] == [
            ("a", "claim:a.a"),
            ("", "claim:b.b"),
            ("c", "fact:s.c"),
        ]


class TestFences:
    """Fenced code blocks, in every notation."""

    @pytest.mark.parametrize(
        ("info", "language"),
        [
            ("python", "python"),
            ("Python", "python"),
            ('py title="a.py"', "py"),
            (' python linenums="1"', "python"),
            ("{.python}", "python"),
            ("{ .python .annotate }", "python"),
            ("{ #name .python }", "python"),
            ("c++", "c++"),
            ("", ""),
        ],
    )
    def test_language(self, info: str, language: str) -> None:
        """The language is the first word, or the first class in braces."""
        assert fence(f"```{info}\nx\n```\n").language == language

    @pytest.mark.parametrize("prefix", ["", "  ", "    ", "\t", "> ", "> > ", "        "])
    @pytest.mark.parametrize("mark", ["```", "~~~", "`````"])
    def test_indent_and_mark(self, prefix: str, mark: str) -> None:
        """Indents, quotations and both marks give the same fence."""
        found = fence(f"Text.\n\n{prefix}{mark}py\n{prefix}x = 1\n{prefix}{mark}\n")
        assert (found.line, found.language, found.closed, found.body) == (3, "py", True, (f"{prefix}x = 1",))

    def test_longer_fence_holds_shorter_ones(self) -> None:
        """Only the same mark, at least as long, closes a fence."""
        found = fence("````markdown\n```python\nx\n```\n~~~~\n````\n")
        assert found.language == "markdown"
        assert len(found.body) == 4

    def test_an_unclosed_fence_reaches_to_the_end_of_the_page(self) -> None:
        """It is marked as not closed."""
        found = fence("```python\nx\n\nText.\n")
        assert not found.closed
        assert found.body == ("x", "", "Text.")

    def test_two_fences_in_a_row(self) -> None:
        """The end of the first fence does not open another."""
        found = parse("docs/page.md", "```py\na\n```\n```sh\nb\n```\n").fences
        assert [(each.line, each.language, each.body) for each in found] == [(1, "py", ("a",)), (4, "sh", ("b",))]

    def test_includes(self) -> None:
        """Each included file or region has its line."""
        found = fence('# T\n\n```py\n--8<-- "snippets/a/b.py:use-it"\nx\n    --8<-- "snippets/c.py"\n```\n')
        assert found.includes() == [Include(4, "snippets/a/b.py", "use-it"), Include(6, "snippets/c.py", None)]

    def test_reason(self) -> None:
        """A reason is on the line directly above the fence."""
        assert fence("<!-- not-run: it needs a cluster -->\n```py\nx\n```\n").reason == "it needs a cluster"
        assert fence("<!-- not-run: it needs a cluster -->\n\n```py\nx\n```\n").reason is None
        assert fence("<!-- not-run: -->\n```py\nx\n```\n").reason is None


class TestTargets:
    """Targets of links."""

    @pytest.mark.parametrize(
        ("href", "target"),
        [
            ("claim:a.b-c.d", ClaimTarget("a.b-c.d")),
            ("claim:a.b#ratio@h200", ClaimTarget("a.b", "ratio", "h200")),
            ("claim:a.b#ratio-low", ClaimTarget("a.b", "ratio-low")),
            ("claim:a.b#change@cpu-amx,batch_size=8", ClaimTarget("a.b", "change", "cpu-amx", {"batch_size": 8})),
            ("claim:a.b#ratio@cpu,n=0.5,d=bf16", ClaimTarget("a.b", "ratio", "cpu", {"n": 0.5, "d": "bf16"})),
            ("fact:h100-sxm.bf16", FactTarget("h100-sxm", "bf16")),
        ],
    )
    def test_grammar(self, href: str, target: ClaimTarget | FactTarget) -> None:
        """A link names a claim, one figure of it at a point, or a fact."""
        assert parse_target(href) == target

    @pytest.mark.parametrize("figure", FIGURES)
    def test_every_figure_has_a_name(self, figure: str) -> None:
        """A link can name every figure; a computed one has no class."""
        name = None if figure == "value" else "cpu"
        assert parse_target(f"claim:a.b#{figure}" + (f"@{name}" if name else "")) == ClaimTarget("a.b", figure, name)

    @pytest.mark.parametrize(
        ("href", "message"),
        [
            ("claim:", "is no claim:ID"),
            ("claim:A.b", "is no claim:ID"),
            ("claim:a.b#value@h200", "takes no hardware class"),
            ("claim:a.b@h200", "is no claim:ID"),
            ("claim:a.b#ratio@h200,", "is no claim:ID"),
            ("claim:a.b#speedup@h200", "use one of ratio, slowdown"),
            ("claim:a.b#ratio@h200,8", "`8` is no AXIS=VALUE"),
            ("claim:a.b#ratio@h200,n=8,", "`` is no AXIS=VALUE"),
            ("fact:sheet", "is no claim:ID"),
            ("fact:sheet.Figure", "is no claim:ID"),
            ("https://example.org", "is no claim:ID"),
        ],
    )
    def test_errors_say_what_to_write(self, href: str, message: str) -> None:
        """The error shows the correct form."""
        with pytest.raises(ValueError, match=r"AXIS=VALUE|use one of|takes no hardware class") as caught:
            parse_target(href)
        assert message in str(caught.value)


class TestFigures:
    """Values of figures in a tree with known effects: 80 ms to 56 ms at batch size 8, 10 ms to 11 ms at 1."""

    TIME, RATE, BYTES = "training.clever.step-time", "training.clever.throughput", "training.clever.saved-memory"

    @pytest.mark.parametrize(
        ("href", "value", "unit"),
        [
            (f"{TIME}#ratio@h200,batch_size=8", 80 / 56, "1"),
            (f"{TIME}#slowdown@h200,batch_size=8", 56 / 80, "1"),
            (f"{TIME}#change@h200,batch_size=8", 56 / 80 - 1, "1"),
            (f"{TIME}#change@h200,batch_size=1", 11 / 10 - 1, "1"),
            (f"{TIME}#subject@h200,batch_size=8", 0.056, "s"),
            (f"{TIME}#baseline@h200,batch_size=8", 0.080, "s"),
            (f"{TIME}#difference@h200,batch_size=8", -0.024, "s"),
            (f"{TIME}#subject@cpu,batch_size=8", 0.56, "s"),
            (f"{RATE}#ratio@h200,batch_size=8", 80 / 56, "1"),
            (f"{RATE}#slowdown@h200,batch_size=8", 56 / 80, "1"),
            (f"{RATE}#change@h200,batch_size=8", 80 / 56 - 1, "1"),
            (f"{RATE}#change@h200,batch_size=1", 10 / 11 - 1, "1"),
            (f"{RATE}#subject@h200,batch_size=8", 2048 / 0.056, "tokens/s"),
            (f"{RATE}#difference@h200,batch_size=8", 2048 / 0.056 - 2048 / 0.080, "tokens/s"),
            (f"{BYTES}#ratio@cpu", 4.0, "1"),
            (f"{BYTES}#difference@cpu,batch_size=8", -300 * 2**20, "B"),
            ("training.moody.step-time#ratio@h200", 0.8, "1"),
        ],
    )
    def test_value_and_unit(self, context: Context, href: str, value: float, unit: str) -> None:
        """A ratio above 1 is better in either direction; the newest session counts."""
        target = parse_target(f"claim:{href}")
        assert isinstance(target, ClaimTarget)
        found, found_unit = measured(context.tree, context.board, target)
        assert found == pytest.approx(value, rel=0.02)
        assert found_unit == unit

    @pytest.mark.parametrize(
        ("href", "message"),
        [
            (f"{TIME}#ratio@h200", r"name one point: batch_size=…, out of \[1, 8\]"),
            (f"{TIME}#ratio@h200,batch_size=4", "name one point"),
            (f"{BYTES}#ratio@cpu,batch_size=4", "no such point"),
            (f"{BYTES}#ratio@h200", "nothing is measured on `h200`"),
            (f"{TIME}#ratio@h100,batch_size=8", "no hardware class `h100`"),
            (TIME, "names no figure"),
            ("training.clever.paper#ratio@h200", "is not a measured claim"),
            ("training.none#ratio@h200", "is not a measured claim"),
        ],
    )
    def test_a_missing_value_is_reported_with_the_reason(self, context: Context, href: str, message: str) -> None:
        """The error names the missing part."""
        target = parse_target(f"claim:{href}")
        assert isinstance(target, ClaimTarget)
        with pytest.raises(LookupError, match=message):
            measured(context.tree, context.board, target)
