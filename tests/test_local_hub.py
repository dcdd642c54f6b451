"""Test the local hub of tiny stand-in models and data sets."""

import json
import runpy
import sys
from pathlib import Path

import pytest

from headroom.execution import local_hub
from headroom.execution.isolation import QUIET, ForkServer
from headroom.records.facts import StandIn, StandInDataset, StandIns

CORPUS = "\n\n".join(f"Paragraph {number} of a licence that\nallows everything." for number in range(12))
ROWS = StandInDataset(config="plain", column="sentence", splits={"train": 20, "test": 3})
GPT2 = StandIn(architecture="GPT2LMHeadModel", dtype="float32", config={"n_layer": 1, "n_embd": 16, "n_head": 2})
LLAMA = StandIn(
    architecture="LlamaForCausalLM",
    dtype="bfloat16",
    config={"num_hidden_layers": 1, "hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 32},
)
STAND_INS = StandIns(models={"openai-community/gpt2": GPT2, "some/llama": LLAMA}, datasets={"some/Rows": ROWS})
SCRIPT = """if True:
    from datasets import load_dataset
    from transformers import AutoModelForCausalLM, AutoTokenizer, pipeline

    for name, dtype in (("openai-community/gpt2", "torch.float32"), ("some/llama", "torch.bfloat16")):
        tokenizer = AutoTokenizer.from_pretrained(name)
        model = AutoModelForCausalLM.from_pretrained(name)
        assert str(model.dtype) == dtype
        assert model.config.vocab_size == len(tokenizer) == model.get_input_embeddings().num_embeddings
        assert tokenizer.eos_token_id == model.config.eos_token_id and tokenizer.pad_token is None
        text = "Paragraph 3, and new characters: \\u00df\\u4e2d"
        assert tokenizer.decode(tokenizer(text)["input_ids"]) == text
        model.generate(**tokenizer("Paragraph", return_tensors="pt"), max_new_tokens=2)
    assert pipeline("text-generation", model="openai-community/gpt2")("Paragraph", max_new_tokens=2)

    data = load_dataset("some/Rows", "plain")
    assert {split: rows.num_rows for split, rows in data.items()} == {"train": 20, "test": 3}
    assert data["train"][1] == {"sentence": "Paragraph 1 of a licence that allows everything."}
    assert load_dataset("some/Rows", split="test").map(lambda row: {"n": len(row["sentence"])})["n"]
    print(sum(float(p.double().sum()) for p in model.parameters()))
    try:
        AutoTokenizer.from_pretrained("some/unknown")
    except OSError:
        print("unknown")
"""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.mark.slow
def test_models_tokenizers_and_data_sets_load_offline_by_name(cache: Path, tmp_path: Path) -> None:
    home = local_hub.build(STAND_INS, cache, CORPUS)
    before = {path for path in home.rglob("*") if path.suffix != ".lock"}
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    with ForkServer({**QUIET, **local_hub.environment(home)}, preload=()) as server:
        outcome = server.run(runpy.run_path, str(script), timeout=120, memory_limit=4 << 30, cwd=tmp_path)
    assert outcome.exit_code == 0, outcome.stderr
    assert outcome.stdout.endswith("\nunknown\n")
    assert "torch" not in sys.modules
    assert {path for path in home.rglob("*") if path.suffix != ".lock"} == before, "a snippet wrote into the hub"


def test_hub_is_rebuilt_only_after_a_change(cache: Path) -> None:
    empty = StandIns(models={}, datasets={})
    rows = StandIns(models={}, datasets={"some/rows": ROWS})
    home = local_hub.build(rows, cache, CORPUS)
    written = home.stat().st_mtime_ns
    assert local_hub.build(rows, cache, CORPUS) == home
    assert home.stat().st_mtime_ns == written
    fewer = StandIns(models={}, datasets={"some/rows": ROWS.model_copy(update={"splits": {"train": 1}})})
    others = [
        local_hub.build(changed, cache, text) for changed, text in ((fewer, CORPUS), (rows, "x"), (empty, CORPUS))
    ]
    assert len({home, *others}) == 4
    folder = next(home.glob("datasets/some___rows/plain/0.0.0/*"))
    assert json.loads((folder / "dataset_info.json").read_text())["splits"]["train"]["num_examples"] == 20


def test_unknown_architecture_is_an_error_and_leaves_no_folder(tmp_path: Path) -> None:
    broken = StandIns(models={"some/model": GPT2.model_copy(update={"architecture": "NoSuchModel"})}, datasets={})
    with pytest.raises(
        local_hub.HubError, match=r"(?s)stand-ins\.yml: the local hub cannot be built; correct .*NoSuchModel"
    ):
        local_hub.build(broken, tmp_path, CORPUS)
    assert not list((tmp_path / "hub").iterdir())


def test_concurrent_builds_publish_one_hub(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name, encoding="utf-8")
        local_hub._publish(tmp_path / name, tmp_path / "target")
    assert (tmp_path / "target" / "file").read_text() == "first"
    with pytest.raises(FileNotFoundError):
        local_hub._publish(tmp_path / "absent", tmp_path / "elsewhere")
