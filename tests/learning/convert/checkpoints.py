"""Small models with random weights, each saved with a tokenizer in a folder, as `save_pretrained` does."""

import json
import re

from learning.convert.samples import DEFAULT_TEXT

TEXT = DEFAULT_TEXT.read_text("utf-8")
SHORT = " ".join(TEXT.split()[:40])
SHARD = "60KB"
WORDS = ["?", "<s>", "</s>", "<mask>", *sorted(set(re.findall(r"\w+|[^\w\s]+", TEXT)))]
VOCABULARY = len(WORDS)
SPECIAL = {"vocab_size": VOCABULARY, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
POSITIONS = 256


def sizes(width="hidden_size", layers="num_hidden_layers", heads="num_attention_heads", **more):
    return {width: 32, layers: 2, heads: 2, **SPECIAL, **more}


MODELS = {
    "GPT-2": ("GPT2LMHeadModel", sizes("n_embd", "n_layer", "n_head", n_positions=POSITIONS)),
    "OPT": ("OPTForCausalLM", sizes(ffn_dim=48, word_embed_proj_dim=32, max_position_embeddings=POSITIONS)),
    "GPT-NeoX": ("GPTNeoXForCausalLM", sizes(intermediate_size=48, max_position_embeddings=POSITIONS)),
    "BLOOM": ("BloomForCausalLM", sizes(layers="n_layer", heads="n_head")),
    "Falcon": ("FalconForCausalLM", sizes(bias=True, new_decoder_architecture=True, num_kv_heads=1)),
    "Phi": ("PhiForCausalLM", sizes(intermediate_size=48, max_position_embeddings=POSITIONS)),
    "StarCoder2": ("Starcoder2ForCausalLM", sizes(intermediate_size=48, num_key_value_heads=1)),
    "Persimmon": (
        "PersimmonForCausalLM",
        sizes(intermediate_size=48, max_position_embeddings=POSITIONS, qk_layernorm=True),
    ),
    "Cohere": ("CohereForCausalLM", sizes(intermediate_size=48, use_qk_norm=True)),
    "Nemotron": ("NemotronForCausalLM", sizes(intermediate_size=48, num_key_value_heads=1)),
    "Llama": ("LlamaForCausalLM", sizes(intermediate_size=48, tie_word_embeddings=True)),
    "Mixtral": (
        "MixtralForCausalLM",
        sizes(intermediate_size=48, num_key_value_heads=1, num_local_experts=2),
    ),
    "OLMo": ("OlmoForCausalLM", sizes(intermediate_size=48)),
    "XGLM": (
        "XGLMForCausalLM",
        sizes("d_model", "num_layers", "attention_heads", ffn_dim=48, max_position_embeddings=POSITIONS),
    ),
    "T5": (
        "T5ForConditionalGeneration",
        sizes("d_model", "num_layers", "num_heads", d_kv=16, d_ff=48, decoder_start_token_id=1),
    ),
    "XLNet": ("XLNetLMHeadModel", sizes("d_model", "n_layer", "n_head", d_inner=48)),
    "BERT": ("BertForMaskedLM", sizes(intermediate_size=48)),
    "ViT": (
        "ViTForImageClassification",
        {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2}
        | {"image_size": 32, "patch_size": 8},
    ),
    "Whisper": (
        "WhisperForConditionalGeneration",
        {"d_model": 32, "num_mel_bins": 8, "max_source_positions": 20, "max_target_positions": POSITIONS}
        | {f"{part}_layers": 1 for part in ("encoder", "decoder")}
        | {f"{part}_ffn_dim": 48 for part in ("encoder", "decoder")}
        | {f"{part}_attention_heads": 2 for part in ("encoder", "decoder")}
        | {"decoder_start_token_id": 1, **SPECIAL},
    ),
}


def model(name, seed=0, **more):
    """The model `name` of MODELS, with noise added to all parameters. more: changed entries of its config."""
    import torch
    import transformers

    torch.manual_seed(seed)
    kind, entries = MODELS[name]
    architecture = getattr(transformers, kind)
    made = architecture(architecture.config_class(**entries | more)).eval()
    with torch.no_grad():
        for each in made.parameters():
            each.add_(0.2 * torch.randn_like(each))
    return made


def save(made, folder, words=WORDS, **how):
    """Save a model, and a tokenizer with a vocabulary of `words`. how: options of `save_pretrained`."""
    made.save_pretrained(folder, **how)
    known = {"type": "WordLevel", "vocab": {word: k for k, word in enumerate(words)}, "unk_token": "?"}
    tokenizer = {"version": "1.0", "added_tokens": [], "model": known}
    tokenizer |= {"pre_tokenizer": {"type": "Whitespace"}}
    told = {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "?", "mask_token": "<mask>"}
    for name, entries in {"tokenizer": tokenizer, "tokenizer_config": told}.items():
        (folder / f"{name}.json").write_text(json.dumps(entries))


def from_pretrained(name, folder, **options):
    import transformers

    return getattr(transformers, MODELS[name][0]).from_pretrained(folder, **options).eval()
