"""One call for every kind of sample that a Tokenizer draws."""

from __future__ import annotations

import isotok


def sample(
    tok: isotok.Tokenizer, text: str | bytes, method: str, noise: float, seed: int, paths: int
) -> list[int]:
    """Draw with `method` "ffbs", "gumbel", "dropout" or "nbest" (one of `paths`)."""
    if method == "dropout":
        return tok.sample(text, dropout=noise, seed=seed)
    if method == "nbest":
        return tok.sample_nbest(text, paths, alpha=noise, seed=seed)
    return tok.sample(text, alpha=noise, method="ffbs" if method == "ffbs" else "gumbel", seed=seed)
