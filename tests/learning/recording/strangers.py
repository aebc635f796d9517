"""Third-party models, from their configurations, with random weights."""

SMALL = {"vocab_size": 40, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
GATED = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    **SMALL,
}


def stranger(name, kind="AutoModel", **sizes):
    import transformers  # imported late, because it takes seconds and collecting tests does not need it

    config = getattr(transformers, f"{name}Config")(**sizes)
    return getattr(transformers, kind).from_config(config).eval()
