# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "peft>=0.21"]
#
# [tool.headroom]
# models = ["openai/whisper-large-v3"]
# ablation = { 'r".*decoder.*(q_proj|v_proj)"' = '["q_proj", "v_proj"]' }
# ///
"""Adapters in Whisper's decoder alone leave the encoder without a graph. A task type of peft passes arguments that Whisper does not take."""

import warnings
from unittest.mock import patch

import torch
from peft import LoraConfig, TaskType, get_peft_model
from transformers import AutoModelForSpeechSeq2Seq

# peft 0.21 asks transformers for this by its old name.
warnings.filterwarnings("ignore", message="`is_gradient_checkpointing`")

checkpoint = "openai/whisper-large-v3"

# --8<-- [start:enable]
model = AutoModelForSpeechSeq2Seq.from_pretrained(checkpoint, dtype=torch.bfloat16)
adapter = LoraConfig(r=16, target_modules=r".*decoder.*(q_proj|v_proj)")
model = get_peft_model(model, adapter)  # without task_type
# --8<-- [end:enable]

printed = patch("builtins.print", wraps=print).start()


# --8<-- [start:is-it-on]
def trained_tensors(model) -> tuple[int, int]:
    """Return the number of trained tensors in the encoder, and in all."""
    trained = [name for name, p in model.named_parameters() if p.requires_grad]
    return sum(".encoder." in name for name in trained), len(trained)


in_encoder, trained = trained_tensors(model)
print(f"{in_encoder} of {trained} trained tensors are in the encoder")
# --8<-- [end:is-it-on]
shown = printed.call_args.args[0]

# The proof: each attention of the decoder has adapters, a step has a loss, and the encoder's output has no graph.
config = model.config
attentions = 2 * config.decoder_layers  # of the text, and of the audio
assert trained - in_encoder == attentions * 2 * 2, trained
batch = {
    "input_features": torch.zeros(
        1, config.num_mel_bins, 3000, dtype=torch.bfloat16
    ),
    "labels": torch.arange(12)[None],
}
out = model(**batch)
out.loss.backward()
gradients = [p.grad for p in model.parameters() if p.grad is not None]
assert gradients, "nothing trains"
assert in_encoder == 0, f"{in_encoder} adapters in the encoder"
assert not out.encoder_last_hidden_state.requires_grad, "the encoder has a graph"
assert shown == f"0 of {trained} trained tensors are in the encoder", shown
ranks = {p.shape[0] for name, p in model.named_parameters() if "lora_A" in name}
assert ranks == {16}, ranks

# Checkpointing that is on before get_peft_model makes the first convolution's output require a gradient. On afterwards, it does not.
model.train()
model.config.use_cache = False
model.activation_checkpointing_enable()
assert not model(**batch).encoder_last_hidden_state.requires_grad
late = AutoModelForSpeechSeq2Seq.from_pretrained(checkpoint, dtype=torch.bfloat16)
late.config.use_cache = False
late.activation_checkpointing_enable()
late = get_peft_model(late, adapter).train()
assert late(**batch).encoder_last_hidden_state.requires_grad
late.get_base_model().disable_input_require_grads()
assert not late(**batch).encoder_last_hidden_state.requires_grad

# With the task type of text models, peft passes input_ids.
whole = AutoModelForSpeechSeq2Seq.from_pretrained(checkpoint, dtype=torch.bfloat16)
typed = get_peft_model(
    whole,
    LoraConfig(target_modules=["q_proj"], task_type=TaskType.SEQ_2_SEQ_LM),
)
# The positive control: the shown check finds these adapters, which are in both halves.
assert trained_tensors(typed)[0] == 2 * config.encoder_layers, trained_tensors(
    typed
)
refusal = ""
try:
    typed(**batch)
except TypeError as error:
    refusal = str(error)
assert "got multiple values for keyword argument 'input_ids'" in refusal, refusal
