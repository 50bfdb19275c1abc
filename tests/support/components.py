"""Components of tokenizers by how they are made: of either package, which is the argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Make = Callable[[Any], Any]

TOKENS = [("[CLS]", 1), (2, "[SEP]"), {"id": "x", "ids": [3, 4], "tokens": ["é", '"']}]
VOCAB = {"<unk>": 0, "a": 1, "b": 2, "ab": 3, "é": 4, "##b": 5, "hello": 6, "c": 9}

NORMALIZERS: dict[str, Make] = {
    "BertNormalizer": lambda m: m.normalizers.BertNormalizer(),
    "Bert, nothing": lambda m: m.normalizers.BertNormalizer(False, False, False, False),
    "Bert, accents": lambda m: m.normalizers.BertNormalizer(lowercase=False, strip_accents=True),
    "NFC": lambda m: m.normalizers.NFC(),
    "NFD": lambda m: m.normalizers.NFD(),
    "NFKC": lambda m: m.normalizers.NFKC(),
    "NFKD": lambda m: m.normalizers.NFKD(),
    "Nmt": lambda m: m.normalizers.Nmt(),
    "Lowercase": lambda m: m.normalizers.Lowercase(),
    "StripAccents": lambda m: m.normalizers.StripAccents(),
    "ByteLevel": lambda m: m.normalizers.ByteLevel(),
    "Strip": lambda m: m.normalizers.Strip(),
    "Strip, left": lambda m: m.normalizers.Strip(right=False),
    "Prepend": lambda m: m.normalizers.Prepend("_é"),
    "Replace": lambda m: m.normalizers.Replace("a", 'x"y'),
    "Replace, Regex": lambda m: m.normalizers.Replace(m.Regex(" {2,}"), " "),
    "Sequence": lambda m: m.normalizers.Sequence(
        [m.normalizers.NFD(), m.normalizers.Sequence([m.normalizers.StripAccents()])]
    ),
    "Sequence, empty": lambda m: m.normalizers.Sequence([]),
    "Sequence, ByteLevel": lambda m: m.normalizers.Sequence(
        [m.normalizers.NFC(), m.normalizers.ByteLevel()]
    ),
}
PRE_TOKENIZERS: dict[str, Make] = {
    "BertPreTokenizer": lambda m: m.pre_tokenizers.BertPreTokenizer(),
    "ByteLevel": lambda m: m.pre_tokenizers.ByteLevel(),
    "ByteLevel, no prefix": lambda m: m.pre_tokenizers.ByteLevel(False),
    "ByteLevel, no regex": lambda m: m.pre_tokenizers.ByteLevel(False, False, False),
    "CharDelimiterSplit": lambda m: m.pre_tokenizers.CharDelimiterSplit("x"),
    "Digits": lambda m: m.pre_tokenizers.Digits(),
    "Digits, individual": lambda m: m.pre_tokenizers.Digits(individual_digits=True),
    "FixedLength": lambda m: m.pre_tokenizers.FixedLength(),
    "FixedLength 3": lambda m: m.pre_tokenizers.FixedLength(length=3),
    "Metaspace": lambda m: m.pre_tokenizers.Metaspace(),
    "Metaspace, first": lambda m: m.pre_tokenizers.Metaspace("_", "first", False),
    "Metaspace, never": lambda m: m.pre_tokenizers.Metaspace(prepend_scheme="never"),
    "Punctuation": lambda m: m.pre_tokenizers.Punctuation(),
    "Punctuation, removed": lambda m: m.pre_tokenizers.Punctuation("removed"),
    "Split": lambda m: m.pre_tokenizers.Split(" ", "merged_with_next"),
    "Split, Regex": lambda m: m.pre_tokenizers.Split(m.Regex(r"\d+"), "contiguous", invert=True),
    "UnicodeScripts": lambda m: m.pre_tokenizers.UnicodeScripts(),
    "Whitespace": lambda m: m.pre_tokenizers.Whitespace(),
    "WhitespaceSplit": lambda m: m.pre_tokenizers.WhitespaceSplit(),
    "Sequence": lambda m: m.pre_tokenizers.Sequence(
        [m.pre_tokenizers.WhitespaceSplit(), m.pre_tokenizers.Punctuation()]
    ),
    "Sequence, bytes": lambda m: m.pre_tokenizers.Sequence(
        [m.pre_tokenizers.Digits(True), m.pre_tokenizers.ByteLevel(False)]
    ),
    "Sequence, empty": lambda m: m.pre_tokenizers.Sequence([]),
}
PROCESSORS: dict[str, Make] = {
    "BertProcessing": lambda m: m.processors.BertProcessing(("[SEP]", 1), ("[CLS]", 2)),
    "RobertaProcessing": lambda m: m.processors.RobertaProcessing(("</s>", 1), ("<s>", 2)),
    "Roberta, no trim": lambda m: m.processors.RobertaProcessing(("a", 1), ("b", 2), False, False),
    "ByteLevel": lambda m: m.processors.ByteLevel(),
    "ByteLevel, no trim": lambda m: m.processors.ByteLevel(trim_offsets=False),
    "TemplateProcessing": lambda m: m.processors.TemplateProcessing(),
    "Template, str": lambda m: m.processors.TemplateProcessing(
        "[CLS] $0 [SEP]:3", "x $B:1 $a [SEP]", TOKENS
    ),
    "Template, list": lambda m: m.processors.TemplateProcessing(
        single=["x", "$7"], special_tokens=TOKENS
    ),
    "Sequence": lambda m: m.processors.Sequence(
        [
            m.processors.ByteLevel(add_prefix_space=False),
            m.processors.TemplateProcessing("[CLS] $A", "$A [SEP]:1 $B:1", TOKENS),
        ]
    ),
    "Sequence, empty": lambda m: m.processors.Sequence([]),
}
DECODERS: dict[str, Make] = {
    "BPEDecoder": lambda m: m.decoders.BPEDecoder(),
    "BPEDecoder, other": lambda m: m.decoders.BPEDecoder(suffix="b"),
    "ByteFallback": lambda m: m.decoders.ByteFallback(),
    "ByteLevel": lambda m: m.decoders.ByteLevel(),
    "CTC": lambda m: m.decoders.CTC(),
    "CTC, other": lambda m: m.decoders.CTC("a", "b", cleanup=False),
    "Fuse": lambda m: m.decoders.Fuse(),
    "Metaspace": lambda m: m.decoders.Metaspace(),
    "Metaspace, never": lambda m: m.decoders.Metaspace("_", "never"),
    "Replace": lambda m: m.decoders.Replace("▁", " "),
    "Replace, longer": lambda m: m.decoders.Replace("a", "bb"),
    "Replace, Regex": lambda m: m.decoders.Replace(m.Regex("a+"), "é"),
    "Strip": lambda m: m.decoders.Strip(),
    "Strip, both": lambda m: m.decoders.Strip("a", 1, 2),
    "WordPiece": lambda m: m.decoders.WordPiece(),
    "WordPiece, other": lambda m: m.decoders.WordPiece(prefix="a", cleanup=False),
    "Sequence": lambda m: m.decoders.Sequence(
        [m.decoders.CTC(), m.decoders.Sequence([m.decoders.Metaspace()])]
    ),
    "Sequence of Llama": lambda m: m.decoders.Sequence(
        [
            m.decoders.Replace("▁", " "),
            m.decoders.ByteFallback(),
            m.decoders.Fuse(),
            m.decoders.Strip(" ", 1, 0),
        ]
    ),
    "Sequence, empty": lambda m: m.decoders.Sequence([]),
}
MERGES = [("a", "b")]
MODELS: dict[str, Make] = {
    "BPE, empty": lambda m: m.models.BPE(),
    "Model": lambda m: m.models.Model(),
    "BPE": lambda m: m.models.BPE(VOCAB, MERGES),
    "BPE, unknown": lambda m: m.models.BPE(VOCAB, MERGES, unk_token="<unk>", fuse_unk=True),
    "BPE, not fused": lambda m: m.models.BPE(VOCAB, MERGES, unk_token="<unk>"),
    "BPE, merges twice": lambda m: m.models.BPE(VOCAB, [*MERGES, *MERGES], unk_token="<unk>"),
    "BPE, ignore_merges": lambda m: m.models.BPE(VOCAB, MERGES, ignore_merges=True),
    "BPE, affixes": lambda m: m.models.BPE(
        dropout=0.1, continuing_subword_prefix="##", end_of_word_suffix="</w>"
    ),
    "WordPiece, empty": lambda m: m.models.WordPiece(),
    "WordPiece": lambda m: m.models.WordPiece(VOCAB, unk_token="<unk>"),
    "WordPiece, no unknown": lambda m: m.models.WordPiece(VOCAB, max_input_chars_per_word=4),
    "WordLevel, empty": lambda m: m.models.WordLevel(),
    "WordLevel": lambda m: m.models.WordLevel(VOCAB, "<unk>"),
    "WordLevel, no unknown": lambda m: m.models.WordLevel(VOCAB, unk_token="[UNK]"),
    "Unigram, default": lambda m: m.models.Unigram(),
    "Unigram": lambda m: m.models.Unigram(
        [("<unk>", 0.0), ("a", -1.5), ("ab", -1e-7), ("b", -0.00001), ("é", -1 / 3), ("z", -1e22)],
        0,
    ),
    "Unigram, no unknown": lambda m: m.models.Unigram([("a", -1.0), ("ab", -2.5e-05)], None),
    "Unigram, alpha": lambda m: m.models.Unigram([("a", -1.0)], 0, alpha=0.0, nbest_size=3),
}
