# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15"]
# ///
"""The Trainer evaluates GPT-2 in fp32 and keeps every logit, the most likely word of each token, or the loss alone.

The model keeps GPT-2's width, heads and 256 tokens a sequence. It has a sixth of its blocks, and a sixth of its
vocabulary with them, so that the logits of a token keep their share. A batch is one sequence; more of them are a longer
evaluation. Every step evaluates texts that the one before did not see. Only weights are held beside it: no gradients
and no optimizer states. No key-value cache is made.

The Trainer keeps logits only where a ``compute_metrics`` wants them, so the arms that keep something have one, which
counts what it is given. All arms compute the same loss.
"""

import tempfile
from collections.abc import Callable

import torch
from transformers import GPT2Config, GPT2LMHeadModel, PrinterCallback, Trainer, TrainingArguments

ARMS = ("logits kept", "logits in a list", "argmax kept", "loss only")
TOKENS = 256
SCALE = 6


def tokens(arm: str, *, batches: int) -> int:
    """The tokens that one step evaluates, the same in every arm."""
    del arm
    return TOKENS * batches


def most_likely(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """The most likely next word of each token."""
    del labels
    return logits.argmax(-1)


def prepare(arm: str, *, batches: int, device: str = "cpu", seed: int = 0) -> Callable[[], float]:
    """A function that evaluates a number of batches, of one sequence each, and returns the mean loss."""
    if arm not in ARMS:
        raise ValueError(f"no arm is called {arm!r}")
    torch.manual_seed(seed)
    vocabulary = 50257 // SCALE
    config = GPT2Config(
        n_layer=12 // SCALE, vocab_size=vocabulary, bos_token_id=0, eos_token_id=0,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False, loss_type="ForCausalLM",
    )  # fmt: skip
    model = GPT2LMHeadModel(config)
    trainer = Trainer(
        model,
        TrainingArguments(
            output_dir=tempfile.gettempdir(),  # nothing is written to it
            per_device_eval_batch_size=1,
            eval_do_concat_batches=arm != "logits in a list",
            use_cpu=device == "cpu",
            report_to="none",
            disable_tqdm=True,
            seed=seed,
        ),
        compute_metrics=None if arm == "loss only" else lambda kept: {"given": len(kept.predictions)},
        preprocess_logits_for_metrics=most_likely if arm == "argmax kept" else None,
    )
    trainer.remove_callback(PrinterCallback)
    draw = torch.Generator().manual_seed(seed)

    def step() -> float:
        texts = torch.randint(vocabulary, (batches, TOKENS), generator=draw)
        found = trainer.evaluate([{"input_ids": text, "labels": text} for text in texts])
        if arm != "loss only" and found["eval_given"] != batches:
            raise ValueError(f"{found['eval_given']} of {batches} were kept")
        return float(found["eval_loss"])

    return step
