"""Build the local hub: tiny stand-in models and data sets under real names, in the Hugging Face cache layout."""

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
_SECONDS, _BYTES = 300, 8 << 30  # limits of the process that builds the hub


class HubError(RuntimeError):
    """The local hub cannot be built from stand-ins.yml."""


def build(stand_ins: StandIns, cache: Path, corpus: str) -> Path:
    """Return a folder to use as HF_HOME; build it once per record, corpus, builder and versions of the libraries.

    Args:
        stand_ins: the models and data sets to serve.
        cache: the folder that keeps built hubs.
        corpus: the text that tokenizers are trained on and rows are taken from.

    The hub is built in a separate process, so that this process does not import the libraries.

    Raises:
        HubError: a library fails on an entry of the record.
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
        with ForkServer(QUIET, preload=()) as server:
            done = server.run(
                _populate, stand_ins, corpus, str(folder), key, timeout=_SECONDS, memory_limit=_BYTES, cwd=Path(name)
            )
        if done.exit_code != 0:
            reason = done.stderr.strip() or ("out of time" if done.timed_out else "out of memory")
            raise HubError(
                f"{RECORD}: the local hub cannot be built; correct the entry that this error names:\n{reason}"
            )
        _publish(folder, target)
    return target


def environment(home: Path) -> dict[str, str]:
    """Return the environment variables with which the libraries load from this hub and ignore the user's caches."""
    return {
        "HF_HOME": str(home.resolve()),
        "HF_HUB_CACHE": str(home.resolve() / "hub"),
        "HF_DATASETS_CACHE": str(home.resolve() / "datasets"),
        # In memory, `datasets` writes no cache files next to the rows, where the next snippet would find them.
        "HF_DATASETS_IN_MEMORY_MAX_SIZE": str(1 << 30),
    }


def _publish(folder: Path, target: Path) -> None:
    """Move the finished folder into place atomically; another process may have built the same hub already."""
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
    import torch  # noqa: PLC0415 - only the building process imports it
    import transformers  # noqa: PLC0415

    tokenizer = _tokenizer(corpus)
    tokenizer.save_pretrained(folder)
    architecture = getattr(transformers, stand_in.architecture)
    ends = {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
    config = architecture.config_class(**{"vocab_size": len(tokenizer), **ends, **stand_in.config})
    torch.manual_seed(0)
    architecture(config).to(getattr(torch, stand_in.dtype)).save_pretrained(folder)


def _tokenizer(corpus: str) -> Any:
    """Train a byte-level BPE on the corpus, with GPT-2's single special token and, like GPT-2, no padding token."""
    from tokenizers import ByteLevelBPETokenizer  # noqa: PLC0415
    from transformers import PreTrainedTokenizerFast  # noqa: PLC0415

    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator([corpus], _VOCABULARY, special_tokens=[_END], show_progress=False)
    ends = dict.fromkeys(("bos_token", "eos_token", "unk_token"), _END)
    return PreTrainedTokenizerFast(tokenizer_object=trained._tokenizer, **ends)  # noqa: SLF001 - there is no public attribute


def _write_dataset(name: str, data: StandInDataset, rows: Iterator[str], root: Path, revision: str) -> None:
    """Write a data set in the prepared form of ``datasets``, the only form that it loads offline by name."""
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
