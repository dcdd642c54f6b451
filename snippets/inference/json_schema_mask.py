# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "llguidance>=1.9"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { "logits_processor=[rules]" = "logits_processor=[]" }
# ///
"""Mask the tokens that a JSON schema does not allow: every answer that ends in time is valid JSON, also of an untrained model."""

import json
from unittest.mock import patch

import torch
from llguidance import LLMatcher
from llguidance.hf import from_tokenizer
from transformers import AutoModelForCausalLM, AutoTokenizer, LogitsProcessor

checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
vocabulary = model.get_input_embeddings().num_embeddings
printed = patch("builtins.print", wraps=print).start()
torch.manual_seed(0)
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 8},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "role": {"enum": ["admin", "user"]},
    },
    "required": ["name", "age", "role"],
    "additionalProperties": False,
    "x-guidance": {"whitespace_flexible": False},
}
inputs = tokenizer(["A user as JSON: "] * 8, return_tensors="pt")
options = {
    "max_new_tokens": 64,
    "do_sample": True,
    "pad_token_id": tokenizer.eos_token_id,
}


# --8<-- [start:enable]
class JSONSchema(LogitsProcessor):
    """Allow only the tokens that continue a text of the schema, in each row."""

    def __init__(self, tokenizer, schema: dict, rows: int, vocabulary: int):
        tokens = from_tokenizer(tokenizer, n_vocab=vocabulary)
        grammar = LLMatcher.grammar_from_json_schema(schema)
        self.rows = [LLMatcher(tokens, grammar) for _ in range(rows)]
        if error := self.rows[0].get_error():
            raise ValueError(error)  # the library itself raises nothing
        self.started = False

    def __call__(self, input_ids, scores):
        for row, matcher in enumerate(self.rows):
            if self.started and not matcher.is_stopped():
                matcher.consume_token(input_ids[row, -1].item())
            # A byte per token: 0 forbids it. After the last brace, only EOS is allowed.
            mask = bytearray(matcher.compute_logit_bias())
            allowed = torch.frombuffer(mask, dtype=torch.uint8) > 0
            scores[row, ~allowed.to(scores.device)] = float("-inf")
        self.started = True
        return scores


rules = JSONSchema(tokenizer, SCHEMA, len(inputs["input_ids"]), vocabulary)
answers = model.generate(**inputs, logits_processor=[rules], **options)
# --8<-- [end:enable]
texts = tokenizer.batch_decode(
    answers[:, inputs["input_ids"].shape[1] :], skip_special_tokens=True
)


def valid(text: str) -> bool:
    """Return whether a text is JSON of the schema, by Python's parser and not by the library's."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        return False
    return (
        list(value) == ["name", "age", "role"]
        and isinstance(value["name"], str)
        and len(value["name"]) <= 8
        and type(value["age"]) is int
        and 0 <= value["age"] <= 150
        and value["role"] in ("admin", "user")
    )


print(
    f"with the schema, {sum(map(valid, texts))} of {len(texts)} answers are valid"
)
free = model.generate(**inputs, **options)
free = tokenizer.batch_decode(free[:, inputs["input_ids"].shape[1] :])
print(f"without it, {sum(map(valid, free))} of {len(free)} are")

# The proof: all rows end by themselves, with JSON of the schema, and they differ; without the mask, none is valid.
assert [call.args[0] for call in printed.call_args_list] == [
    "with the schema, 8 of 8 answers are valid",
    "without it, 0 of 8 are",
]
assert len(set(texts)) > 4, (
    "sampled answers must differ, or one text would prove it"
)
assert {json.loads(text)["role"] for text in texts} == {"admin", "user"}
ends = (answers[:, inputs["input_ids"].shape[1] :] != tokenizer.eos_token_id).sum(1)
assert len(set(ends.tolist())) > 1  # rows end at different steps
assert all(
    matcher.is_stopped() and not matcher.is_error() for matcher in rules.rows
)
# A row that has ended reads no padding, which the schema would refuse.
padded = JSONSchema(tokenizer, SCHEMA, 8, vocabulary)
model.generate(**inputs, **options | {"pad_token_id": 1}, logits_processor=[padded])
assert not any(matcher.is_error() for matcher in padded.rows)
# The mask never forbids the whole vocabulary, and forbids most of it at the start.
start = JSONSchema(tokenizer, SCHEMA, 1, vocabulary)
scores = start(inputs["input_ids"][:1], torch.zeros(1, vocabulary))
assert 0 < scores.isfinite().sum() < vocabulary / 100
# It depends on the schema: a number, not an object.
number = JSONSchema(tokenizer, {"type": "integer"}, 1, vocabulary)
scores = number(inputs["input_ids"][:1], torch.zeros(1, vocabulary))
allowed = tokenizer.batch_decode(scores[0].isfinite().nonzero())
assert all(set(text.strip()) <= set("-0123456789") for text in allowed), allowed
# The token limit cuts an answer, and the mask cannot help.
cut = model.generate(
    **inputs,
    **options | {"max_new_tokens": 6},
    logits_processor=[JSONSchema(tokenizer, SCHEMA, 8, vocabulary)],
)
cut = tokenizer.batch_decode(cut[:, inputs["input_ids"].shape[1] :])
assert not any(map(valid, cut))
assert all(text.startswith('{"') for text in cut)
# A schema that cannot be compiled is an error before the first token.
message = ""
try:
    JSONSchema(tokenizer, {"type": "no such type"}, 1, vocabulary)
except ValueError as error:
    message = str(error)
assert "no such type" in message, message
# The library itself raises nothing for it.
assert LLMatcher(
    from_tokenizer(tokenizer, n_vocab=vocabulary),
    LLMatcher.grammar_from_json_schema({"type": "no such type"}),
).is_error()
