"""The local hub: tiny models and a few rows under the names that snippets use, laid out as the hub's cache is."""

import itertools
import json
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from headroom.execution.isolation import QUIET, ForkServer
from headroom.io import safe_read
from headroom.records.facts import StandIn, StandInDataset, StandIns

RECORD = "checks/facts/stand-ins.yml"
_END = "<|endoftext|>"
_VOCABULARY = 1024
_SECONDS, _BYTES = 300, 8 << 30  # of the process that builds


class HubError(RuntimeError):
    """The local hub cannot be built from what stand-ins.yml says."""


def build(stand_ins: StandIns, cache: Path, corpus: str) -> Path:
    """A folder to be used as HF_HOME, built once for the same record, corpus, builder and libraries.

    Args:
        stand_ins: the models and data sets to serve.
        cache: the folder that keeps built hubs.
        corpus: the text that tokenizers are trained on and rows are taken from.

    The work is done in a process of its own, so that this one loads no library.

    Raises:
        HubError: a library refuses what the record says.
    """
    libraries = [version(name) for name in ("transformers", "tokenizers", "datasets")]
    builder = Path(__file__).read_text(encoding="utf-8")
    key = safe_read.sha256(json.dumps([stand_ins.model_dump(mode="json"), corpus, libraries, builder]))[:40]
    target = cache / "hub" / key
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".") as name:
        folder = Path(name, "home")
        with ForkServer(QUIET, preload=()) as nursery:
            done = nursery.run(
                _populate, stand_ins, corpus, str(folder), key, timeout=_SECONDS, memory_limit=_BYTES, cwd=Path(name)
            )
        if done.exit_code != 0:
            reason = done.stderr.strip() or ("out of time" if done.timed_out else "out of memory")
            raise HubError(f"{RECORD} cannot be served; correct it:\n{reason}")
        _publish(folder, target)
    return target


def environment(home: Path) -> dict[str, str]:
    """The variables under which the libraries load from this hub, whatever caches the user has set up."""
    return {
        "HF_HOME": str(home.resolve()),
        "HF_HUB_CACHE": str(home.resolve() / "hub"),
        "HF_DATASETS_CACHE": str(home.resolve() / "datasets"),
        # In memory, `datasets` writes nothing of a snippet's own beside the rows, where the next one would find it.
        "HF_DATASETS_IN_MEMORY_MAX_SIZE": str(1 << 30),
    }


def _publish(folder: Path, target: Path) -> None:
    """Put the finished folder in its place in one step; another process may have been first with the same content."""
    try:
        folder.rename(target)
    except OSError:
        if not target.exists():
            raise


def _populate(stand_ins: StandIns, corpus: str, home: str, revision: str) -> None:
    """Write every model and data set below ``home``."""
    Path(home).mkdir()
    for name, model in stand_ins.models.items():
        repository = Path(home, "hub", f"models--{name.replace('/', '--')}")
        snapshot = repository / "snapshots" / revision
        snapshot.mkdir(parents=True)
        _write_model(model, corpus, snapshot)
        (repository / "refs").mkdir()
        (repository / "refs" / "main").write_text(revision, encoding="ascii")
    rows = itertools.cycle(" ".join(paragraph.split()) for paragraph in corpus.split("\n\n") if paragraph.strip())
    for name, data in stand_ins.datasets.items():
        _write_dataset(name, data, rows, Path(home, "datasets"), revision)


def _write_model(stand_in: StandIn, corpus: str, folder: Path) -> None:
    import torch  # noqa: PLC0415 - only the process that builds loads it
    import transformers  # noqa: PLC0415

    tokenizer = _tokenizer(corpus)
    tokenizer.save_pretrained(folder)
    architecture = getattr(transformers, stand_in.architecture)
    ends = {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
    config = architecture.config_class(**{"vocab_size": len(tokenizer), **ends, **stand_in.config})
    torch.manual_seed(0)
    architecture(config).to(getattr(torch, stand_in.dtype)).save_pretrained(folder)


def _tokenizer(corpus: str) -> Any:
    """A byte-level BPE trained on the corpus; it has the one special token of GPT-2, and like it none for padding."""
    from tokenizers import ByteLevelBPETokenizer  # noqa: PLC0415
    from transformers import PreTrainedTokenizerFast  # noqa: PLC0415

    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator([corpus], _VOCABULARY, special_tokens=[_END], show_progress=False)
    ends = dict.fromkeys(("bos_token", "eos_token", "unk_token"), _END)
    return PreTrainedTokenizerFast(tokenizer_object=trained._tokenizer, **ends)  # noqa: SLF001 - it has no other door


def _write_dataset(name: str, data: StandInDataset, rows: Iterator[str], root: Path, revision: str) -> None:
    """Write a data set as ``datasets`` leaves a prepared one, the only form that it loads offline by name."""
    import datasets  # noqa: PLC0415
    from datasets.arrow_writer import ArrowWriter  # noqa: PLC0415
    from datasets.naming import camelcase_to_snakecase, filename_prefix_for_split  # noqa: PLC0415

    *owner, name = name.split("/")
    folder = root / "___".join((*owner, camelcase_to_snakecase(name))) / data.config / "0.0.0" / revision
    folder.mkdir(parents=True)

    features = datasets.Features({data.column: datasets.Value("string")})
    splits = datasets.SplitDict(dataset_name=name)
    for split, count in data.splits.items():
        file = folder / f"{filename_prefix_for_split(name, split)}.arrow"
        with ArrowWriter(features=features, path=str(file)) as writer:
            for row in itertools.islice(rows, count):
                writer.write({data.column: row})
            _, size = writer.finalize()
        splits.add(datasets.SplitInfo(split, num_bytes=size, num_examples=count))
    datasets.DatasetInfo(
        features=features,
        splits=splits,
        dataset_name=name,
        config_name=data.config,
        version="0.0.0",
        dataset_size=sum(split.num_bytes for split in splits.values()),
    ).write_to_directory(folder)
