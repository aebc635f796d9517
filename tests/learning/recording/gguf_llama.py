"""A Llama in a GGUF file, as llama.cpp writes it."""

import numpy as np

WIDE, LAYERS, HEADS, INNER = 32, 2, 2, 48
FIRST = "<s>"


def save(path):
    import gguf

    generator, letters = np.random.default_rng(0), [chr(k) for k in range(33, 127)]
    tokens = [FIRST, "</s>", "Ġ", *letters, "th"]
    out = gguf.GGUFWriter(path, "llama")
    out.add_context_length(64)
    out.add_embedding_length(WIDE)
    out.add_block_count(LAYERS)
    out.add_feed_forward_length(INNER)
    out.add_head_count(HEADS)
    out.add_head_count_kv(HEADS)
    out.add_layer_norm_rms_eps(1e-5)
    out.add_rope_dimension_count(WIDE // HEADS)
    out.add_vocab_size(len(tokens))
    out.add_tokenizer_model("gpt2")
    out.add_tokenizer_pre("default")
    out.add_token_list(tokens)
    out.add_token_types([3 * (k < 2) or 1 for k in range(len(tokens))])
    out.add_token_merges(["t h"])
    out.add_bos_token_id(0)
    out.add_eos_token_id(1)
    square, shapes = (WIDE, WIDE), {"token_embd": (len(tokens), WIDE), "output_norm": (WIDE,)}
    for k in range(LAYERS):
        own = {"attn_norm": (WIDE,), "ffn_norm": (WIDE,), "ffn_down": (WIDE, INNER)}
        own |= dict.fromkeys(("attn_q", "attn_k", "attn_v", "attn_output"), square)
        own |= dict.fromkeys(("ffn_gate", "ffn_up"), (INNER, WIDE))
        shapes |= {f"blk.{k}.{name}": shape for name, shape in own.items()}
    for name, shape in shapes.items():
        out.add_tensor(f"{name}.weight", generator.normal(len(shape) == 1, 0.1, shape).astype(np.float32))
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()
