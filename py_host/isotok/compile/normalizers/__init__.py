"""The normalizers of a tokenizer.json, and what its pre-tokenizer rewrites, as programs."""

from isotok.compile.normalizers.program import Normalizer, make_normalizer

__all__ = ["Normalizer", "make_normalizer"]
