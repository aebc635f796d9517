"""A GPT-2 from its configuration with a tokenizer and a text, as a reader has them on the disk."""

WORDS = "What do the norms of a model do, and could it go without the centring? " * 40


def save(path):
    """Into a folder, with the text as text.txt."""
    import tokenizers  # these take seconds, and are not for those who collect tests
    import torch
    import transformers

    words = tokenizers.Tokenizer(tokenizers.models.WordLevel(unk_token="?"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    trainer = tokenizers.trainers.WordLevelTrainer(special_tokens=["?"], show_progress=False)
    words.train_from_iterator([WORDS], trainer)
    transformers.PreTrainedTokenizerFast(tokenizer_object=words, unk_token="?").save_pretrained(path)
    torch.manual_seed(0)
    size = {"vocab_size": 64, "bos_token_id": 1, "eos_token_id": 2}
    config = transformers.GPT2Config(n_embd=32, n_layer=2, n_head=2, n_positions=64, **size)
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    transformers.GPT2LMHeadModel(config).save_pretrained(path)
    (path / "text.txt").write_text(WORDS)
