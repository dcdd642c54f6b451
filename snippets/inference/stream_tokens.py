# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { "thread.start()" = "thread.start(); thread.join()" }
# ///
"""A streamer hands out each piece of text while generate() computes the next tokens, so a reader waits for the first token and not for the last."""

import threading

from transformers import AutoModelForCausalLM, AutoTokenizer, TextIteratorStreamer

checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
model = AutoModelForCausalLM.from_pretrained(checkpoint)
inputs = tokenizer("Streaming means", return_tensors="pt")
passes = 0


def count(*_):
    """Count the forward passes."""
    global passes  # noqa: PLW0603
    passes += 1


model.register_forward_hook(count)
settings = {"max_new_tokens": 64, "min_new_tokens": 64, "do_sample": False}
settings["repetition_penalty"] = 10.0  # a text with spaces, where pieces end
expected = tokenizer.decode(
    model.generate(**inputs, **settings)[0, inputs.input_ids.shape[1] :]
)
passes, seen, text = 0, [], ""

# --8<-- [start:enable]
streamer = TextIteratorStreamer(tokenizer, skip_prompt=True)
settings["streamer"] = streamer
thread = threading.Thread(target=model.generate, kwargs={**inputs, **settings})
thread.start()
for piece in streamer:
    text += piece  # send the piece to the user
    seen.append(passes)
# --8<-- [end:enable]
thread.join()
print(
    f"{len(seen)} pieces; the first came after {seen[0]} passes, the last after {seen[-1]}"
)

assert text == expected, (text, expected)
assert len(text.split()) > 10, text
assert seen == sorted(seen), f"{seen} are no numbers of passes"
assert seen[0] < 64, "the text came only after the last token"
assert seen[-1] == passes == 64, f"the last piece came after {seen[-1]} passes"
