"""Small models of `transformers` from their configurations, with random gains, shifts and biases."""

import torch

from tests.learning.recording.strangers import GATED, SMALL

NO_TOKENS = {name: size for name, size in GATED.items() if name not in SMALL}
GROUPED = GATED | {"num_key_value_heads": 1, "head_dim": 16}
PATCHES = NO_TOKENS | {"image_size": 16, "patch_size": 8}
GPT = {"n_layer": 2, "n_head": 2, **SMALL}
IDS = torch.arange(20).reshape(2, 10) % 37 + 3
IMAGE = {"pixel_values": (2, 3, 16, 16)}
LARGER_IMAGE = {"pixel_values": (2, 3, 32, 32)}
SPEECH = {"d_model": 32, "num_mel_bins": 8, "max_source_positions": 10, "max_target_positions": 20}
for side in ("encoder", "decoder"):
    SPEECH |= {f"{side}_layers": 2, f"{side}_attention_heads": 2, f"{side}_ffn_dim": 48}

# configuration, automatic class, sizes, and the shapes of inputs that are not tokens
MODELS = {
    "GPT-2": ("GPT2", "CausalLM", {"n_embd": 32, **GPT}),
    "OPT": ("OPT", "CausalLM", GATED | {"ffn_dim": 48, "word_embed_proj_dim": 32}),
    "GPT-NeoX": ("GPTNeoX", "CausalLM", GATED),
    "XGLM": (
        "XGLM",
        "CausalLM",
        {"d_model": 32, "ffn_dim": 48, "num_layers": 2, "attention_heads": 2, **SMALL},
    ),
    "BLOOM": ("Bloom", "CausalLM", {"hidden_size": 32, **GPT}),
    "Falcon": ("Falcon", "CausalLM", GATED),
    "Llama": ("Llama", "CausalLM", GATED),
    "Qwen3": ("Qwen3", "CausalLM", GROUPED),
    "Gemma 2": ("Gemma2", "CausalLM", GROUPED),
    "Gemma 3": ("Gemma3Text", "CausalLM", GROUPED),
    "OLMo": ("Olmo", "CausalLM", GATED),
    "OLMo 2": ("Olmo2", "CausalLM", GATED),
    "Cohere": ("Cohere", "CausalLM", GATED),
    "Cohere with norms of heads": ("Cohere", "CausalLM", GATED | {"use_qk_norm": True}),
    "Persimmon": ("Persimmon", "CausalLM", GATED | {"qk_layernorm": True}),
    "Phi with norms of heads": ("Phi", "CausalLM", GATED | {"qk_layernorm": True}),
    "StableLM with norms of heads": (
        "StableLm",
        "CausalLM",
        GATED | {"qk_layernorm": True, "num_key_value_heads": 2},
    ),
    "Mixtral": ("Mixtral", "CausalLM", GROUPED | {"num_local_experts": 4}),
    "BERT": ("Bert", "MaskedLM", GATED),
    "DistilBERT": (
        "DistilBert",
        "MaskedLM",
        {"dim": 32, "hidden_dim": 48, "n_layers": 2, "n_heads": 2, "vocab_size": 40},
    ),
    "ModernBERT": ("ModernBert", "MaskedLM", GATED | {"cls_token_id": 1, "sep_token_id": 2}),
    "RoBERTa": ("Roberta", "MaskedLM", GATED),
    "ALBERT": ("Albert", "MaskedLM", GATED | {"embedding_size": 16}),
    "T5": (
        "T5",
        "Seq2SeqLM",
        {"d_model": 32, "d_ff": 48, "num_layers": 2, "num_heads": 2, "d_kv": 16, **SMALL},
    ),
    "Whisper": (
        "Whisper",
        "SpeechSeq2Seq",
        SPEECH | SMALL | {"decoder_start_token_id": 1},
        {"input_features": (2, 8, 20)},
    ),
    "ViT": ("ViT", "ImageClassification", PATCHES, IMAGE),
    "DINOv2": ("Dinov2", "ImageClassification", PATCHES, IMAGE),
    "CLIP": ("CLIP", "", {"text_config": GATED, "vision_config": PATCHES, "projection_dim": 16}, IMAGE),
    "Swin": (
        "Swin",
        "ImageClassification",
        {
            "image_size": 32,
            "patch_size": 4,
            "embed_dim": 16,
            "depths": [1, 2],
            "num_heads": [2, 2],
            "window_size": 4,
        },
        LARGER_IMAGE,
    ),
    "ConvNeXt": (
        "ConvNext",
        "ImageClassification",
        {"hidden_sizes": [16, 32], "depths": [1, 2], "num_stages": 2, "image_size": 32},
        LARGER_IMAGE,
    ),
    "Mamba": ("Mamba", "CausalLM", {"hidden_size": 32, "state_size": 4, "num_hidden_layers": 2, **SMALL}),
}


def small_model(name, scattered=0.2):
    """The model `name` of MODELS, and the inputs of one call, by argument name.

    scattered: the standard deviation of the random numbers that are added to each parameter.
    """
    import transformers  # imported late, because it takes seconds and collecting tests does not need it

    own, task, sizes, *shapes = MODELS[name]
    torch.manual_seed(0)
    config = getattr(transformers, f"{own}Config")(**sizes)
    model = getattr(transformers, f"AutoModelFor{task}" if task else "AutoModel").from_config(config)
    with torch.no_grad():
        for each in model.parameters():
            each.add_(scattered * torch.randn(each.shape))
    inputs = {part: torch.randn(shape) for part, shape in (shapes[0] if shapes else {}).items()}
    if task != "ImageClassification":
        inputs |= {"decoder_input_ids" if name == "Whisper" else "input_ids": IDS}
    if name == "T5":
        inputs |= {"decoder_input_ids": IDS}
    return model.eval(), inputs
