"""Calculated figures: scopes of lets, units, formats, `--fix`, and hostile input."""

import shutil
import time
from pathlib import Path

import pytest

from headroom import rules
from headroom.io.safe_read import UnreadableError
from headroom.maths.quantities import Quantity
from headroom.pages.calculated_text import explained, rewrite
from headroom.pages.calculations import Calculations
from headroom.pages.source import links_of

CLEAN = Path(__file__).parent / "rule_cases" / "clean"
LETS = "<!-- let: P = 1235814400 parameter; w = 4 B/parameter; rate = 5 GB/s -->\n\n"


def calculations(text: str) -> Calculations:
    """Return the calculated figures of a text in which every address has the value 5 GB."""
    return Calculations(text, links_of(text), lambda _: Quantity.of(5.0, "GB"))


def filled(link: str) -> str:
    """Return the text of a link after `--fix`, below some lets."""
    (found,) = calculations(LETS + link).found
    new = rewrite(found)
    text = found.link.text
    return text[: new.start] + new.right + text[new.start + len(new.printed) :]


def faults(text: str) -> list[tuple[int | None, str]]:
    """Return the faults of a text's lets and formulas, each with its line."""
    return [(fault.line, fault.message) for fault in calculations(text).faults]


class TestText:
    """The text decides the unit and the precision."""

    @pytest.mark.parametrize(
        ("link", "text"),
        [
            ("[1 GiB](calc:20*P)", "23 GiB"),
            ("[1.0 GiB](calc:20*P)", "23.0 GiB"),
            ("[1.0 GiB](calc:5*w*P)", "23.0 GiB"),
            ("[about 1.00 GB of it](calc:w*P)", "about 4.94 GB of it"),
            ("[1 parameters](calc:P)", "1,235,814,400 parameters"),
            ("[1 bytes per parameter](calc:w)", "4 bytes per parameter"),
            ("[1 ms](calc:w*P/rate)", "989 ms"),
            ("[1.0 s](calc:w*P/rate)", "1.0 s"),
            ("[1.0 min](calc:w*P*100/rate)", "1.6 min"),
            ("[1.0 GB/s](calc:rate)", "5.0 GB/s"),
            ("[1 %](calc:1/5)", "20 %"),
            ("[1.00×](calc:21/16)", "1.31×"),
            ("[−1.0](calc:1-5)", "−4.0"),
            ("[+1 %](calc:(5-4)/4)", "+25 %"),
            ("[1.0e-3](calc:1/3_000_000)", "3.3e-7"),
            ("[1.5e9](calc:P)", "1.2e9"),
            ("[1](calc:ceil(P/max(2,(1+2)*(3))))", "137,312,712"),
            ("[1](<calc: min(P, 2 ** 4) >)", "16"),
        ],
    )
    def test_a_figure_is_rewritten_in_its_own_form(self, link: str, text: str) -> None:
        """Words, decimals, sign and separators stay."""
        assert filled(link) == text

    @pytest.mark.parametrize(
        ("link", "text"),
        [
            ("[?](calc:w*P)", "4.6 GiB"),
            ("[?](calc:w*1e6)", "3.8 MiB"),
            ("[?](calc:w*P/rate/100)", "9.9 ms"),
            ("[?](calc:P)", "1,235,814,400"),
            ("[?](calc:1/3)", "0.33"),
            ("[? GiB](calc:20*P)", "23.0 GiB"),
            ("[?.?? GiB](calc:20*P)", "23.02 GiB"),
            ("[? %](calc:1/3)", "33 %"),
            ("[?×](calc:1/3)", "0.33×"),
            ("[about ? GiB each](calc:20*P)", "about 23.0 GiB each"),
        ],
    )
    def test_an_open_figure_is_filled_as_guides_print_it(self, link: str, text: str) -> None:
        """`?.??` gives two decimals."""
        assert filled(link) == text

    @pytest.mark.parametrize("text", ["4.6", "4.6 s", "4.6 GB/s", "5 parameters", "5 %"])
    def test_bytes_in_another_unit_are_an_error(self, text: str) -> None:
        """The message names both units."""
        (found,) = calculations(f"{LETS}[{text}](calc:w*P)").found
        with pytest.raises(UnreadableError, match=r"has the unit `B`, but `.*` has `"):
            rewrite(found)

    @pytest.mark.parametrize(
        ("formula", "explanation"),
        [
            ("20*P", "20 × 1,235,814,400 = 23.0 GiB"),
            ("(12+8)*P", "(12 + 8) × 1,235,814,400 = 23.0 GiB"),
            ("w*P-3*P*2**2*w", "4 B/parameter × 1,235,814,400 − 3 × 1,235,814,400 × 2² × 4 B/parameter = −50.6 GiB"),
            ("max(1,P)", "max(1, 1,235,814,400) = 1.2 GiB"),
            ("2*1e9*1.5+4e-3+1e15", "2 × 1,000,000,000 × 1.5 + 4e-3 + 1e15 = 931325.4 GiB"),
        ],
    )
    def test_a_formula_is_explained_with_its_numbers(self, formula: str, explanation: str) -> None:
        """The tooltip shows it to readers."""
        (found,) = calculations(f"{LETS}[1.0 GiB](calc:{formula})").found
        assert explained(found) == explanation

    def test_a_name_alone_is_explained_by_its_formula(self) -> None:
        """Also when the name's value is another name."""
        text = "<!-- let: peak = 20*P; most = peak; size = 2*3 -->[1.0 GiB](calc:most) [0](calc:size)"
        found = calculations(LETS + text).found
        assert [explained(each) for each in found] == ["20 × 1,235,814,400 = 23.0 GiB", "2 × 3 = 6"]

    def test_values_of_names_are_shown_as_they_were_given_or_rounded(self) -> None:
        """Units, values of claims and `ceil` are shown correctly."""
        lets = "<!-- let: card = 24 GB; link = fact:a.b; tiles = ceil(7/2); part = 50 %; debt = 1-4; speed = rate*2 -->"
        links = "[0 GB](calc:card+link) [0](calc:tiles*part*debt) [0 GB/s](calc:speed+rate)"
        assert [explained(each) for each in calculations(LETS + lets + links).found] == [
            "24 GB + 4.66 GiB = 29 GB",
            "4 × 50 % × (−3) = −6",
            "10,000,000,000 B/s + 5 GB/s = 15 GB/s",
        ]


class TestScope:
    """A let is valid from its line to the end of its fold, or of the page."""

    def test_two_folds_may_give_one_name_two_values(self) -> None:
        """Each fold has its own value."""
        text = "".join(f'??? "fold"\n\n    <!-- let: a = {i} -->\n    [0](calc:a)\n\n' for i in (1, 2))
        assert [each.quantity.value for each in calculations(text).found] == [1, 2]
        assert faults(text) == []

    def test_a_fold_inside_another_sees_its_names_and_ends_with_it(self) -> None:
        """The names of the inner fold end with it."""
        inner = '    ??? "inner"\n\n        <!-- let: b = a + 1 -->\n        [0](calc:b)\n\n'
        text = f'??? "outer"\n\n    <!-- let: a = 1 -->\n\n{inner}    [0](calc:a) [0](calc:b)\n\n[0](calc:a)\n'
        assert faults(text) == [
            (10, "`b`: the let of `b` on line 7 is not valid here"),
            (12, "`a`: the let of `a` on line 3 is not valid here"),
        ]

    def test_a_let_is_valid_only_after_its_line(self) -> None:
        """Expressions use earlier names."""
        assert faults("[0](calc:a)\n\n<!-- let: a = b; b = 2; c = b*a -->[0](calc:c)") == [
            (3, "`b`: no let gives `b` a value"),
            (1, "`a`: the let of `a` on line 3 is not valid here"),
        ]

    def test_a_second_value_for_a_valid_name_is_an_error(self) -> None:
        """On the page, in a fold, and twice in one comment."""
        text = '<!-- let: a = 1; a = 2 -->\n\n??? "x"\n\n    <!-- let: a = 3 -->\n\n[0](calc:a)'
        assert [line for line, _ in faults(text)] == [1, 5]

    def test_lets_in_code_are_ignored(self) -> None:
        """In fences and in inline code."""
        text = "```html\n<!-- let: a = 1 -->\n```\n\n`<!-- let: b = 1 -->` and `[0](calc:b)`"
        assert faults(text) == []

    def test_one_fault_is_reported_once(self) -> None:
        """A formula that uses an invalid let is not reported again."""
        assert [line for line, _ in faults("<!-- let: a = 1 ell; b = 2*a -->\n[0](calc:b) [0](calc:a)")] == [1]


class TestHostile:
    """Hostile lets and addresses."""

    @pytest.mark.parametrize(
        "formula",
        [
            "__import__('os')", "a.b", "2**5", "9**9**9", "1/0", "lambda:1", "1e308*1e308", "-" * 40 + "1",
            "+".join("1" * 150), "min", "True", "1if(1)else(2)", "é", "[1]", "a:=1", "ceil(w)",
        ],
    )  # fmt: skip
    def test_more_than_arithmetic_is_refused(self, formula: str) -> None:
        """No formula is executed."""
        text = f"{LETS}[1](<calc:{formula}>) <!-- let: x = {formula} --> [1](calc:x+P+rate+w)"
        assert len(faults(text)) >= 2
        assert all(fault.remedy for fault in calculations(text).faults)

    def test_time_is_proportional_to_lets_and_folds(self) -> None:
        """Ten thousand of each, nested and in a row."""
        deep = "".join(" " * 4 * min(i, 20) + '??? "x"\n\n' for i in range(5_000))
        in_a_row = "".join(f'??? "x"\n\n    <!-- let: a = {i} --> [{i}](calc:a)\n\n' for i in range(10_000))
        started = time.process_time()
        found = calculations(deep + in_a_row)
        assert len(found.found) == 10_000
        assert time.process_time() - started < 10

    def test_an_address_in_another_form_is_reported(self, tmp_path: Path) -> None:
        """The rule does not parse references, HTML and parentheses four deep."""
        root = Path(shutil.copytree(CLEAN, tmp_path / "tree"))
        page = root / "docs/training/words.md"
        forms = ["[5][x]\n\n[x]: calc:P\n", "<a href='calc:P'>5</a>\n", "[5](calc:((((P)))))\n", "[5](calc:2 * P)\n"]
        page.write_text(page.read_text("utf-8") + "\n" + "\n".join(forms), "utf-8")
        found = rules.check(rules.Context.of(root))
        assert [problem.rule for problem in found] == ["links"] * len(forms)
        assert all("[text](calc:20*P)" in problem.remedy for problem in found)


def test_fix_rewrites_calculated_figures_and_nothing_else(tmp_path: Path) -> None:
    """A second run changes nothing."""
    root = Path(shutil.copytree(CLEAN, tmp_path / "tree"))
    page = root / "docs/training/words.md"
    right = page.read_text("utf-8")
    page.write_text(right.replace("[3.8 MiB]", "[9.9 MiB]").replace("[16.0 ms]", "[?]"), "utf-8")
    assert [fix.text for fix in rules.apply(root, rules.Context.of(root))] == ["3.8", "16.0 ms"]
    assert page.read_text("utf-8") == right
    assert list(rules.apply(root, rules.Context.of(root))) == []


def test_a_fact_that_only_a_let_names_is_used(tmp_path: Path) -> None:
    """Without the let, it is an orphan."""
    root = Path(shutil.copytree(CLEAN, tmp_path / "tree"))
    page = root / "docs/training/words.md"
    text = page.read_text("utf-8").replace("digits = fact:digits.fp16_digits; ", "digits = 11; ")
    page.write_text(text, "utf-8")
    (problem,) = rules.check(rules.Context.of(root))
    assert (problem.rule, "fp16_digits" in problem.message) == ("orphans", True)


def test_a_cpu_time_in_a_let_on_a_gpu_page_is_an_error(tmp_path: Path) -> None:
    root = Path(shutil.copytree(CLEAN, tmp_path / "tree"))
    page = root / "docs/training/words.md"
    let = "<!-- let: t = claim:training.clever.step-time#subject@cpu,batch_size=8 -->"
    page.write_text(f"{page.read_text('utf-8')}\n{let}\n[0.56 s](calc:t)\n", "utf-8")
    assert [problem.rule for problem in rules.check(rules.Context.of(root))] == ["hardware"]
