"""Sentences of a page: found in every kind of block, with their lines and positions, and never in code."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headroom.pages.sentences import Sentence, notes, sentences

PIECES = [
    *[
        "`",
        "``",
        "```",
        "~~~",
        "\n",
        "\n\n",
        " ",
        "    ",
        "\t",
        "- ",
        "1. ",
        "> ",
        "|",
        "|---|",
        "---",
        "# ",
        "<!--",
        "-->",
    ],
    *[
        "[",
        "](",
        ")",
        "*",
        "**",
        "_",
        "$$",
        ":::",
        "```{note}",
        '!!! note "',
        '=== "',
        '"',
        "a",
        "Faster. ",
        "é",
        "\u2028",
    ],
    *[
        "\r\n",
        "\x0c",
        "<a x=",
        "<br>",
        ">",
        "&lt;",
        "&#0;",
        "\\",
        "[^1]:",
        ": ",
        "<!-- no-claim: proved -->",
        "e.g. ",
        "?",
    ],
]
A_PAGE = st.lists(st.sampled_from(PIECES), max_size=60).map("".join) | st.text()


def found(text: str) -> list[tuple[int, str, str]]:
    """Return line, kind and text of every sentence."""
    return [(each.line, each.kind, each.text) for each in sentences(text)]


def words(text: str) -> list[str]:
    """Return the text of every sentence."""
    return [each.text for each in sentences(text)]


class TestBlocks:
    """Every kind of block."""

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            (
                "One\ntwo. Three\nfour.\n\nFive.",
                [(1, "paragraph", "One two."), (2, "paragraph", "Three four."), (5, "paragraph", "Five.")],
            ),
            ("# A title {#id .cls}\n## Other ##", [(1, "heading", "A title"), (2, "heading", "Other ##")]),
            (
                "Over\n====\n\nUnder\n-----\nText",
                [(1, "heading", "Over"), (4, "heading", "Under"), (6, "paragraph", "Text")],
            ),
            (
                "- a\n  b\n- c\n\n* d\n+ e\n1. f\n2) g",
                [(1, "item", "a b"), (3, "item", "c"), *[(4 + i, "item", x) for i, x in enumerate("defg", 1)]],
            ),
            (
                "- a\n\n    more\n\n    - deep\n\n        deeper",
                [(1, "item", "a"), (3, "paragraph", "more"), (5, "item", "deep"), (7, "paragraph", "deeper")],
            ),
            ("- [x] done", [(1, "item", "done")]),
            (
                '!!! note "A title"\n    Body.\n\n    More.\n\nAfter.',
                [
                    (1, "title", "A title"),
                    (2, "paragraph", "Body."),
                    (4, "paragraph", "More."),
                    (6, "paragraph", "After."),
                ],
            ),
            ("??? tip\n    Body.", [(2, "paragraph", "Body.")]),
            ('=== "Trainer"\n\n    Body.', [(1, "title", "Trainer"), (3, "paragraph", "Body.")]),
            ("> [!NOTE]\n> Quoted\n> text.", [(2, "paragraph", "Quoted text.")]),
            ("> > deep\n> less", [(1, "paragraph", "deep less")]),
            ("<Tip warning={true}>\n\nA tip.\n\n</Tip>", [(3, "paragraph", "A tip.")]),
            ('<hfoptions id="a">\n<hfoption id="b">\n\nText.\n\n</hfoption>', [(4, "paragraph", "Text.")]),
            ("<details><summary>Title</summary>\n\nText.", [(1, "title", "Title"), (3, "paragraph", "Text.")]),
            (
                ":::{note} A title\n:class: x\nProse.\n:::\nAfter.",
                [(1, "title", "A title"), (3, "paragraph", "Prose."), (5, "paragraph", "After.")],
            ),
            (
                "```{tip} T\nProse.\n```\nAfter.",
                [(1, "title", "T"), (2, "paragraph", "Prose."), (4, "paragraph", "After.")],
            ),
            (
                "| a | b |\n|---|:-:|\n| `x|y` | d \\| e |",
                [(1, "header", "a"), (1, "header", "b"), (3, "cell", "x|y"), (3, "cell", "d | e")],
            ),
            (
                "a | b\n--|--\nc. d | e\n\nf | g",
                [
                    (1, "header", "a"),
                    (1, "header", "b"),
                    *[(3, "cell", x) for x in ("c.", "d", "e")],
                    (5, "paragraph", "f | g"),
                ],
            ),
            (
                "Text[^1].\n\n[^1]: A note.\n    More.",
                [(1, "paragraph", "Text."), (3, "item", "A note."), (4, "item", "More.")],
            ),
            ("Term\n:   Meaning.", [(1, "paragraph", "Term"), (2, "item", "Meaning.")]),
            ("One\n<!-- hidden -->\ntwo.", [(1, "paragraph", "One two.")]),
            ("One\n\n<!-- hidden -->\n\ntwo.", [(1, "paragraph", "One"), (5, "paragraph", "two.")]),
            ("a | b\n--|--", [(1, "header", "a"), (1, "header", "b")]),
            ("- a\n\n  - b\n\nText.\n\n    code", [(1, "item", "a"), (3, "item", "b"), (5, "paragraph", "Text.")]),
            (
                "$$x$$ is math, and $$y$$ too.\nMore.",
                [(1, "paragraph", "is math, and too."), (2, "paragraph", "More.")],
            ),
            ("> a\n>\n>     code\n>\n> b", [(1, "paragraph", "a"), (5, "paragraph", "b")]),
            ("> - a\n>   b\n\nc", [(1, "item", "a b"), (4, "paragraph", "c")]),
            ("> [!TIP] Its [!NOTE] title\n> Text.", [(1, "title", "Its [!NOTE] title"), (2, "paragraph", "Text.")]),
            (
                '!!! note\n    Body.\n??? tip "T"\n    B.',
                [(2, "paragraph", "Body."), (3, "title", "T"), (4, "paragraph", "B.")],
            ),
        ],
        ids=lambda value: value.split("\n")[0] if isinstance(value, str) else "",
    )
    def test_sentences_have_the_kind_of_their_block_and_their_first_line(
        self, text: str, expected: list[tuple[int, str, str]]
    ) -> None:
        """In every dialect of Markdown that is parsed."""
        assert found(text) == expected

    @pytest.mark.parametrize(
        "code",
        [
            "```python\nfaster. code\n```",
            "~~~\nfaster\n```\n~~~",
            "- item\n\n    ```\n    faster\n    ```",
            "```\nnever closed\n\nfaster",
            "    indented faster",
            "!!! note\n\n        faster in a note",
            "---\ntitle: faster\n---\n",
            "<!-- faster\n\nfaster -->",
            "$$\nfaster\n$$",
            "\\[\nfaster\n\\]",
            "[ref]: https://faster",
            '--8<-- "faster"',
            "[[autodoc]] faster",
            ":::{code-block} python\nfaster\n:::",
        ],
    )
    def test_code_has_no_sentences(self, code: str) -> None:
        """Prose after the code has."""
        assert [text for text in words(code) if "faster" in text] == []
        if "never closed" not in code:
            assert words(f"{code}\n\nProse follows.")[-1] == "Prose follows."


class TestVisibleText:
    """The text that a reader sees."""

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("**Bold**, *weak*, __b__, _w_, ~~no~~ and `code_x`", "Bold, weak, b, w, no and code_x"),
            ("2 * 3, a_b_c and **b**old", "2 * 3, a_b_c and bold"),
            ('A [link](a.md "t"), [one][r], ![img](x.png) and <b class="x">bold</b>', "A link, one, and bold"),
            ("[`~Trainer.train`] and {func}`f`, &lt;x&gt;", "Trainer.train and f, <x>"),
            ("a < b and c > d <https://x.y>", "a < b and c > d"),
            ("Text[^1] and <!-- hidden --> rest", "Text and rest"),
            ("\\*star\\*", "*star*"),
        ],
    )
    def test_without_markup(self, text: str, expected: str) -> None:
        """Marks, targets, tags and footnotes are removed; the words of code stay."""
        assert words(text) == [expected]


class TestSplit:
    """The ends of sentences."""

    @pytest.mark.parametrize(
        "text",
        [
            "It is 1.5x as fast in 2.11, e.g. with A, i.e. B vs. C, in Fig. 3 of approx. 4.",
            "Call `a. B` in file.py, etc. and go on... with no. 3: it is; yes.",
        ],
    )
    def test_abbreviations_numbers_and_file_names_end_no_sentence(self, text: str) -> None:
        """Colons and semicolons do not either."""
        assert words(text) == [text.replace("`", "")]

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            (
                'It is. `torch` does. bf16 too! "Yes?" (So.) Then',
                ["It is.", "torch does.", "bf16 too!", '"Yes?"', "(So.)", "Then"],
            ),
            ("A, B, etc. The end… But", ["A, B, etc.", "The end…", "But"]),
            ("**Bold.** In 2.11. Next", ["Bold.", "In 2.11.", "Next"]),
            ("One<br>two", ["One", "two"]),
        ],
    )
    def test_stops_and_line_breaks_end_a_sentence(self, text: str, expected: list[str]) -> None:
        """Quotes and brackets after the stop belong to the sentence; the case of the next word does not matter."""
        assert words(text) == expected


class TestNotes:
    """Notes and their sentences."""

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("A. B. <!-- no-claim: proved --> C.", [None, "proved", None]),
            ("A <!-- no-claim: proved -->.", ["proved"]),
            ("A.\n<!-- no-claim: proved -->\nB.", ["proved", None]),
            ("A.\n\n<!-- no-claim: proved -->\nB.", [None, None]),
            ("# A\n<!-- no-claim: proved -->\n\nB", ["proved", None]),
            ('!!! note "A"\n    <!-- no-claim: proved -->\n    B', ["proved", None]),
            ("| A | B |\n|---|---|\n| C <!-- no-claim: proved --> | D |", [None, None, "proved", None]),
            ("| A | B |\n|---|---|\n| C | <!-- no-claim: proved --> |", [None, None, None]),
            ("`<!-- no-claim: proved -->` A.", [None]),
            ("**A.** [B](x) <!-- other --> <!-- no-claim: proved -->", [None, "proved"]),
        ],
    )
    def test_a_note_belongs_to_the_sentence_before_it(self, text: str, expected: list[str | None]) -> None:
        """In the same block or cell."""
        assert [each.note for each in sentences(text)] == expected

    def test_a_note_without_a_sentence_has_its_line_and_span(self) -> None:
        """The kind is stripped."""
        text = "A.\n\n<!-- no-claim: x y -->\n"
        (note,) = notes(text)
        assert (note.line, note.kind, text[note.start : note.end]) == (3, "x y", "<!-- no-claim: x y -->")


def test_a_sentence_has_the_targets_of_its_own_links() -> None:
    assert [each.hrefs for each in sentences("See [a](b). And [c](claim:d), [e](f).")] == [("b",), ("claim:d", "f")]


def test_a_sentence_has_its_span_in_the_source() -> None:
    text = "- **One** [two](x).\n  `Three`\n  four.\n"
    assert [text[each.start : each.end] for each in sentences(text)] == ["One** [two](x).", "Three`\n  four."]


@given(A_PAGE)
def test_sentences_of_any_text_are_ordered_and_not_empty(text: str) -> None:
    last: Sentence | None = None
    for each in sentences(text):
        assert 0 <= (last.end if last else 0) <= each.start < each.end <= len(text)
        assert each.line == text.count("\n", 0, each.start) + 1
        assert any(char.isalnum() for char in each.text)
        last = each


@given(st.lists(st.sampled_from([*PIECES, "secret"]), max_size=30).map("".join))
def test_code_is_never_found(text: str) -> None:
    """The text of a closed fence is in no sentence, with any text around it."""
    code = "\n\n```\nFENCED code. Faster.\n```\n\n"
    assert not [each for each in sentences("prose\n" + code + text) if "FENCED" in each.text]
