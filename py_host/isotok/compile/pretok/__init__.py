"""Pre-tokenizer patterns compiled to automata (docs/pretokenizer.md)."""
