"""Property tests of pages, links, targets and figures."""

import re
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from headroom import rules
from headroom.io.safe_read import UnreadableError
from headroom.maths.units import UNITS, Figure, convert
from headroom.pages.link_targets import FIGURES, ClaimTarget, FactTarget, parse_target
from headroom.pages.source import parse
from hostile.loaders import CLEAN

WORDS = st.sampled_from(
    [
        *(
            "a",
            "b c",
            "\n",
            "\n\n",
            " ",
            "`",
            "``",
            "```",
            "~~~",
            "<!--",
            "-->",
            "[",
            "]",
            "](",
            ")",
            "{#a}",
            "# T",
            "> ",
            "- ",
        ),
        *(
            "[x](claim:a.b)",
            "[1 %](fact:a.b)",
            '[x](claim:a.b "flips")',
            "[](claim:a.b)",
            "claim:a",
            "    ",
            "```python\n",
            "| a |",
        ),
        *('--8<-- "snippets/a.py"\n', "<!-- not-run: x -->\n", "1.9×", "é", "🙂", "\\", "*", "_"),
    ]
)
TEXTS = st.lists(WORDS, max_size=40).map("".join)
SLUG = st.from_regex(r"[a-z0-9]+(-[a-z0-9]+)*", fullmatch=True)
NAME = st.from_regex(r"[a-z][a-z0-9_]*", fullmatch=True)
# As the expressions had it that took the square of the time.
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
INLINE_CODE = re.compile(r"(?<!`)(`+)(?!`)((?:(?!\n\s*\n).)+?)(?<!`)\1(?!`)", re.DOTALL)


class TestPages:
    @given(TEXTS)
    def test_links_and_fences_have_the_right_position_and_line(self, text: str) -> None:
        try:
            page = parse("docs/a.md", f"# A\n{text}")
        except UnreadableError:
            return
        rows = page.text.split("\n")
        for link in page.links:
            assert page.text[link.start : link.end] == link.text
            before = page.text[: link.start]
            assert before.endswith("[")
            assert link.line == before.count("\n") + 1
            assert page.text[link.end :].startswith(f"]({link.href}")
        for fence in page.fences:
            assert re.match(r"[ \t>]*(`{3}|~{3})", rows[fence.line - 1])
            assert tuple(rows[fence.line : fence.line + len(fence.body)]) == fence.body
        assert all(re.search("claim:|fact:", rows[line - 1]) for line in page.stray)

    @given(TEXTS)
    def test_no_link_is_found_in_code_or_comments(self, text: str) -> None:
        """Without fences, the fast readers agree with simple regular expressions."""
        assume("```" not in text and "~~~" not in text)
        text = f"# A\n{text}"
        blank = text
        for pattern in (COMMENT, INLINE_CODE):
            blank = pattern.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), blank)
        found = {link.start for link in parse("docs/a.md", text).links}
        hidden = {at for at in found if blank[at - 1] != "["}
        assert hidden == set()
        plain = {match.end() for match in re.finditer(r"\[(?=[x]\]\(claim:a\.b\))", blank)}
        assert plain <= found | {at for at in plain if blank[:at].count("[") > blank[:at].count("]") + 1}

    @given(st.text(max_size=80))
    def test_any_text_is_parsed_as_a_page_or_refused(self, text: str) -> None:
        try:
            result: object = parse("docs/a.md", text).anchors
        except UnreadableError as error:
            result = error.remedy
        assert isinstance(result, frozenset | str)


class TestTargets:
    @given(
        st.tuples(SLUG, SLUG).map(".".join),
        st.sampled_from(FIGURES),
        SLUG,
        st.dictionaries(NAME, st.integers(0, 10**6) | st.from_regex(r"[a-z]{2,8}[0-9]", fullmatch=True), max_size=3),
    )
    def test_targets_of_claims_round_trip(
        self, claim: str, figure: str, name: str, point: dict[str, int | str]
    ) -> None:
        at = "".join(f",{axis}={value}" for axis, value in point.items())
        measured = figure != "value"  # what is computed has no class
        target = f"claim:{claim}#{figure}" + (f"@{name}" if measured else "") + at
        assert parse_target(target) == ClaimTarget(claim, figure, name if measured else None, point)
        assert parse_target(f"claim:{claim}") == ClaimTarget(claim)

    @given(SLUG, NAME)
    def test_targets_of_facts_round_trip(self, sheet: str, figure: str) -> None:
        assert parse_target(f"fact:{sheet}.{figure}") == FactTarget(sheet, figure)

    @given(st.text(max_size=40) | st.text("claim:fact#@,=.-_ab01", max_size=40).map(lambda text: f"claim:a.b{text}"))
    def test_any_text_is_parsed_as_a_target_or_refused(self, text: str) -> None:
        try:
            result: object = parse_target(text)
        except ValueError as error:
            result = str(error)
        assert result


FORMS = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "+", "−", "-"]),
    st.sampled_from(["1", "1.0", "1.00", "12", "123", "1,234", "12,345.6", "0.001", "9999"]),
    st.sampled_from(["", " ", "\u00a0", "\u202f"]),
    st.sampled_from([unit for unit in UNITS if unit not in ("1", "parameter")]),  # those are of records, not of texts
)


class TestFigures:
    @given(FORMS, st.floats(-1e9, 1e9))
    def test_a_formatted_figure_is_found_again_with_its_value(self, form: str, value: float) -> None:
        """In the same form, and within half of its last digit."""
        figure = Figure.find(form)
        assert figure is not None
        assert figure.unit is not None
        written = figure.written(value, figure.unit)
        again = Figure.find(written)
        assert again is not None
        assert (again.text, again.unit, again.decimals) == (written, figure.unit, figure.decimals)
        assert again.written(value, figure.unit) in (written, written.removeprefix("+"))
        digits = re.sub(r"[^\d.−-]", "", written.removesuffix(figure.unit)).replace("−", "-")
        assert abs(float(digits) - value) <= 0.5000001 * 10.0**-figure.decimals + abs(value) * 1e-15

    @given(st.sampled_from(list(UNITS)), st.sampled_from(list(UNITS)), st.floats(-1e9, 1e9))
    def test_conversion_between_units_round_trips(self, unit: str, to: str, value: float) -> None:
        assume(UNITS[unit][0] == UNITS[to][0])
        assert abs(convert(convert(value, unit, to), to, unit) - value) <= abs(value) * 1e-14 + 1e-300

    @given(st.text("0123456789,.+−- ×%sBKiMG/tokens", max_size=20))
    def test_any_text_has_one_figure_or_none(self, text: str) -> None:
        figure = Figure.find(text)
        assert figure is None or text[figure.start :].startswith(figure.text)


PRINTED = ["1.43×", "2.00×", "?", "0.5×", "143 %", "+43 %", "1.4×", "99.9999×", "1×"]


@settings(max_examples=settings().max_examples // 4)  # each judges the tree four times
@given(st.lists(st.sampled_from(PRINTED), min_size=1, max_size=6), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_fix_changes_only_figures_and_only_once(figures: list[str], newline: str, spread: bool) -> None:  # noqa: FBT001
    """Every other byte stays, including line endings."""
    with TemporaryDirectory() as folder:
        root = Path(shutil.copytree(CLEAN, Path(folder) / "tree"))
        target = "claim:training.clever.step-time#ratio@h200,batch_size=8"
        between = newline if spread else " é 🙂 "
        text = f"---{newline}title: A{newline}hardware: [h200]{newline}---{newline}# A{newline}{newline}"
        text += between.join(f"[{figure}]({target})" for figure in figures) + newline
        path = root / "docs/training/gpu2.md"
        path.write_bytes(text.encode())
        list(rules.apply(root, rules.Context.of(root)))
        once = path.read_bytes().decode()
        pattern = re.compile(rf"\[[^\[\]]*\](?=\({re.escape(target)}\))")
        assert pattern.sub("[]", once) == pattern.sub("[]", text)
        context = rules.Context.of(root)
        assert [p for p in rules.check(context) if p.rule == "figures"] == []
        assert list(rules.apply(root, context)) == []
        assert path.read_bytes().decode() == once
