"""Large trees: what checking one costs grows as the tree does, and no faster way to read changes what is read."""

import random
import time
from pathlib import Path

import pytest

import large_trees
from factories import a_claim, a_session, write
from headroom import records, rules
from headroom.io.safe_read import UnreadableError, text_of
from headroom.io.strict_load import load_json
from headroom.records import Evidence
from headroom.records.paths import evidence_text


def cost(root: Path) -> float:
    """CPU seconds of a check that finds nothing."""
    before = time.process_time()
    assert [str(problem) for problem in rules.check(rules.Context.of(root))] == []
    return time.process_time() - before


def test_four_times_the_claims_cost_about_four_times_as_much(tmp_path: Path) -> None:
    """Going through all sessions for each claim, or all claims for each figure, would cost sixteen times as much."""
    few, many = tmp_path / "few", tmp_path / "many"
    large_trees.make(few, 50)
    large_trees.make(many, 200)
    cost(few)  # imports, compiled patterns
    assert cost(many) < 8 * min(cost(few) for _ in range(3))


def test_the_tree_uses_everything_that_it_says(tmp_path: Path) -> None:
    """Claims, some of them swept, two sessions each, a link and a figure of each, facts, snippets and runs."""
    plans = large_trees.make(tmp_path, 50)
    context = rules.Context.of(tmp_path)
    tree = context.tree
    assert (len(tree.claims), len(tree.sessions), len(tree.snippets), len(tree.runs)) == (50, 100, 2, 2)
    assert sum(claim.scope.sweep is not None for claim in tree.measured()) == 5
    assert {len(context.board.of(claim, "h200").others) for claim in tree.claims.values()} == {1}
    assert len(context.links) == 2 * len(plans) + len(tree.facts)
    assert {session.evidence.design.blocks for session in tree.sessions} == {20}


def test_copies_of_the_project_have_its_snippets_and_no_problem(tmp_path: Path) -> None:
    """`check_at_scale.py` times a tree like this one, with more of everything."""
    large_trees.make_from_project(tmp_path, copies=1, claims=25, sessions=60)
    context, own = rules.Context.of(tmp_path), records.load(large_trees.PROJECT)
    assert [str(problem) for problem in rules.check(context)] == []
    tree = context.tree
    assert (len(tree.claims), len(tree.sessions)) == (len(own.claims) + 25, len(own.sessions) + 60)
    copies = {name.replace("training/", "training-2/") for name in own.snippets if name.startswith("training/")}
    assert copies
    assert copies < tree.snippets.keys()


class TestJson:
    """A session whose text has as many colons as the session has keys is parsed once, and no less strictly for it."""

    TEXT = evidence_text(a_session(a_claim(), blocks=1))

    def read(self, root: Path, text: str) -> tuple[bool, list[str]]:
        """Whether a session with this text is read, and what is said of it."""
        path = write(root / "checks/evidence/made_up/a.json", text)
        tree = records.load(root)
        path.unlink()
        messages = [problem.message for problem in tree.problems if "does not match the content" not in problem.message]
        return bool(tree.sessions), messages

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            ('"block": 0, "position": 0', '"block": 0, "block": 0, "position": 0', "`block` occurs twice"),
            ('"block": 0, "position": 0', '"block" : 0, "block" :0, "position": 0', "`block` occurs twice"),
            ('"block": 0, "position": 0', '"block": 0, "bl\\u006fck": 0, "position": 0', "`block` occurs twice"),
            ('"units": {', '"units": {"step_time": "ms", ', "`step_time` occurs twice"),
            ('"point": {}', '"point": {"a": 1, "a": 1}', "`a` occurs twice"),
            ('"output": 2.5', '"output": NaN', "`NaN` is not a finite number"),
            ('"output": 2.5', '"output": -Infinity', "`-Infinity` is not a finite number"),
            ('"output": 2.5', '"output": NaN, "output": 2.5', "`NaN` is not a finite number"),
            ('"output": 2.5', '"output": 1e999', "`1e999` is not a finite number"),
            ('"point": {}', '"point": {"a": 1e999}', "`1e999` is not a finite number"),
            ('"output": 2.5', f'"output": {"9" * 5000}', "an integer beyond 64 bits"),
            ('"output": 2.5', '"output":9999999999999999999', "an integer beyond 64 bits"),
            ('"output": 2.5', '"output": -9999999999999999999', "an integer beyond 64 bits"),
            ('"order_seed": 3', '"order_seed": 9223372036854775809', "an integer beyond 64 bits"),
            (
                '"samples": {"step_time": [',
                '"samples": {"step_time": [10000000000000000000,',
                "an integer beyond 64",
            ),
            ('"throttled": []', f'"throttled": {"[" * 5000}{"]" * 5000}', "nested too deeply"),
            ('"harness": "0.1.0"', '"harness": "0.1.0",', "not valid JSON"),
        ],
    )
    def test_what_the_strict_parser_refuses_is_refused_in_its_words(
        self, tmp_path: Path, old: str, new: str, message: str
    ) -> None:
        """And nothing else is said of the file."""
        found, messages = self.read(tmp_path, self.TEXT.replace(old, new, 1))
        assert not found
        assert len(messages) == 1
        assert message in messages[0]

    @pytest.mark.parametrize("harness", ["a: b", '\\"a\\": 1', "a\\u003a b"])
    def test_a_colon_in_a_text_is_no_key(self, tmp_path: Path, harness: str) -> None:
        """It costs a second parse, and nothing else."""
        text = self.TEXT.replace('"harness": "0.1.0"', f'"harness": "{harness}"')
        assert self.read(tmp_path, text) == (True, [])

    def test_any_edit_is_read_or_refused_as_by_the_strict_parser(self, tmp_path: Path, deep: bool) -> None:  # noqa: FBT001
        """Characters put in, taken out and replaced at random places."""
        rng = random.Random(11)  # noqa: S311 - edits, not secrets
        accepted = 0
        for _ in range(20_000 if deep else 400):
            at, length = rng.randrange(len(self.TEXT)), rng.choice((0, 1, 1, 30))
            put = rng.choice(
                ("", ":", '"', ",", "0", " ", "-", "1e9", '"a": 1, ', '"block": 0, ', "\\", "NaN", "9" * 19)
            )
            text = self.TEXT[:at] + put + self.TEXT[at + length :]
            found, messages = self.read(tmp_path, text)
            assert (found, messages) == (not messages, self.strictly(text, messages))
            accepted += found
        assert accepted

    @staticmethod
    def strictly(text: str, messages: list[str]) -> list[str]:
        """What is wrong with a text by the strict parser, and, where that is content, what the schema said of it."""
        try:
            load_json(text_of(text.encode()))
            Evidence.model_validate_json(text, strict=True)
        except UnreadableError as error:
            return [error.message]
        except ValueError:
            assert messages
            return messages
        return []
