"""The shapes of published models: their files, finding one by name, and the number of parameters that they give."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from factories import write
from headroom import records
from headroom.records.cards import Cards, CardsError, read_cards
from headroom.records.model_shapes import FOLDER, ModelShape, ParameterCount, ShapeError, read_shape

ROOT = Path(__file__).parents[1]
CLEAN = ROOT / "tests" / "rule_cases" / "clean"
IDS = sorted(path.stem for path in (ROOT / FOLDER).glob("*.yml"))
LAYERS = ("num_hidden_layers", "n_layer", "num_layers", "encoder_layers")


def doubled(config: dict[str, Any]) -> dict[str, Any]:
    """Return a config with twice as many layers."""
    field = next(name for name in LAYERS if name in config)
    return config | {field: 2 * config[field]}


@pytest.fixture(scope="module")
def shapes() -> dict[str, ModelShape]:
    """The shapes of this repository."""
    return {name: read_shape(name, ROOT) for name in IDS}


@pytest.fixture(scope="module")
def counts(shapes: dict[str, ModelShape]) -> dict[str, Any]:
    """What transformers builds from each shape; from one wrong shape per family; and from a misspelt field."""
    models = {name: {"architecture": shape.architecture, "fields": shape.config} for name, shape in shapes.items()}
    families = {shape.config["model_type"]: name for name, shape in shapes.items()}
    models |= {f"wrong {name}": models[name] | {"fields": doubled(shapes[name].config)} for name in families.values()}
    models["misspelt"] = models["gpt2"] | {"fields": shapes["gpt2"].config | {"n_layers": 12}}
    child = [sys.executable, str(Path(__file__).with_name("count_parameters.py"))]
    done = subprocess.run(child, input=json.dumps(models), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", IDS)
def test_transformers_builds_the_published_number_of_parameters(
    name: str, shapes: dict[str, ModelShape], counts: dict[str, Any]
) -> None:
    """To the last printed digit, from fields that transformers knows."""
    assert counts[name]["unknown"] == []
    assert shapes[name].parameters.agrees(counts[name]["parameters"]), counts[name]


def test_wrong_shape_of_each_family_has_another_number_of_parameters(
    shapes: dict[str, ModelShape], counts: dict[str, Any]
) -> None:
    """Twice the layers agree with no published number."""
    altered = [name.removeprefix("wrong ") for name in counts if name.startswith("wrong ")]
    assert len(altered) == len({shape.config["model_type"] for shape in shapes.values()})
    agreeing = [name for name in altered if shapes[name].parameters.agrees(counts[f"wrong {name}"]["parameters"])]
    assert agreeing == []


def test_misspelt_field_is_found(counts: dict[str, Any]) -> None:
    """Transformers itself accepts a field that no code reads."""
    assert counts["misspelt"]["unknown"] == ["n_layers"]


@pytest.mark.parametrize(
    ("published", "rounded_to", "right", "wrong"),
    [(8030261248, 1, 8030261248, 8030261249), (8.03e9, 10_000_000, 8030261248, 8035000001)],
)
def test_count_agrees_to_the_last_printed_digit(published: float, rounded_to: int, right: int, wrong: int) -> None:
    """An exact number agrees with itself alone."""
    count = ParameterCount(value=published, unit="parameter", source="here", rounded_to=rounded_to)
    assert count.agrees(right)
    assert not count.agrees(wrong)


class TestReadShape:
    """Finding one shape without the rest of the tree."""

    @pytest.mark.parametrize(
        "name", ["llama-3.1-8b", "Llama-3.1-8B", "meta-llama/Llama-3.1-8B", " META-LLAMA/llama-3.1-8b "]
    )
    def test_id_and_hub_name_are_found_in_any_case(self, name: str) -> None:
        assert read_shape(name, ROOT).id == "llama-3.1-8b"

    def test_name_that_is_part_of_another_is_found(self) -> None:
        """`gpt2` is also in the file of GPT-2 XL."""
        assert read_shape("gpt2", ROOT).config["n_layer"] == 12

    def test_unknown_name_gets_the_nearest_names(self) -> None:
        with pytest.raises(
            ShapeError, match=r"no shape is recorded for `meta-llama/Llama-3\.1-9B`; did you mean meta-"
        ):
            read_shape("meta-llama/Llama-3.1-9B", ROOT)

    def test_name_near_to_none_gets_the_folder(self) -> None:
        with pytest.raises(ShapeError, match=f"; {FOLDER} has the shapes that are known"):
            read_shape("?", ROOT)

    def test_invalid_file_is_reported_with_its_line(self, tmp_path: Path) -> None:
        write(tmp_path / FOLDER / "a.yml", "id: a\ntitle: [a]\n")
        with pytest.raises(ShapeError, match=r"models/a\.yml:2: facts: `title`"):
            read_shape("a", tmp_path)

    def test_no_torch_is_imported(self) -> None:
        code = f"from headroom.records.model_shapes import read_shape; read_shape('gpt2', {str(ROOT)!r})"
        check = f"{code}\nimport sys; print({{'torch', 'transformers'}} & set(sys.modules))"
        done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
        assert done.stdout == "set()\n"


def test_tree_has_every_shape_and_no_hub_name_twice() -> None:
    """A name leads to one shape."""
    tree = records.load(ROOT)
    assert sorted(tree.shapes) == IDS
    names = [name.lower() for shape in tree.shapes.values() for name in shape.names]
    assert len(names) == len(set(names))


class TestCards:
    """The memory of GPUs."""

    def test_cards_from_8_to_288_gb_are_recorded(self) -> None:
        cards = read_cards(ROOT)
        sizes = {card.printed.value for card in cards.cards.values() if card.printed.unit == "GB"}
        assert {8, 12, 16, 24, 32, 40, 48, 80, 94, 96, 141, 192, 256, 288} <= sizes

    def test_driver_reports_about_what_is_printed(self) -> None:
        """A printed GB is between a GB and a GiB; ECC takes a part of the memory of some cards."""
        cards = read_cards(ROOT).cards.values()
        shares = [card.reported.value / 1024 / card.printed.value for card in cards if card.reported]
        assert shares
        assert all(0.93 < share <= 1.03 for share in shares), shares

    def test_no_name_means_two_cards(self) -> None:
        names = [name.lower() for card in read_cards(ROOT).cards.values() for name in card.names]
        assert len(names) == len(set(names))

    def test_tree_has_the_cards(self) -> None:
        assert records.load(CLEAN).cards == read_cards(CLEAN) != Cards()

    def test_missing_and_invalid_files_are_errors(self, tmp_path: Path) -> None:
        with pytest.raises(CardsError, match=r"no checks/facts/cards\.yml"):
            read_cards(tmp_path)
        write(tmp_path / "checks/facts/cards.yml", "cards: 1\n")
        with pytest.raises(CardsError, match=r"cards\.yml:1: facts: `cards`"):
            read_cards(tmp_path)
