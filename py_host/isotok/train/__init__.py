"""Train tokenizers."""
