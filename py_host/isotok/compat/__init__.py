"""Drop-in replacements for other tokenizer packages; import the one you need."""
