"""Why a vector or a case is not applicable yet: one table for all runners."""

from __future__ import annotations

NBEST_SIZE = "about a combination of sentencepiece's options that is none here"
EXCEPTIONS = "sentencepiece's exception classes come with the issue on all of SentencePiece"
UNK_PIECE = "emit_unk_piece comes with the issue on all of SentencePiece"
REVERSE = "the option reverse comes with the issue on all of SentencePiece"
TOKENIZER_JSON = "a tokenizer.json: in test_cases_foreign.py"
TIKTOKEN = "a rank file: in test_cases_foreign.py"
WEB = "about the npm package, in whose tests it is"
MEMORY = "needs gigabytes: a check of `./build.sh test full`"

VECTOR_OPERATIONS = {"encode_pieces_unk": UNK_PIECE}

CASE_KINDS = {
    "tokenizer.json": TOKENIZER_JSON,
    "tokenizer.json (tiny, generated)": TOKENIZER_JSON,
    "tokenizer.json (generated)": TOKENIZER_JSON,
    "tiktoken ranks + regex": TIKTOKEN,
    "tiktoken ranks (inline) + regex": TIKTOKEN,
    "tiktoken ranks (inline)": TIKTOKEN,
}
CASES = {
    "OOR-03": EXCEPTIONS,  # a TypeError for 2**31; here it is an id out of range as any other
    "SEC-24": MEMORY,
    "WEB-01": WEB,
    "WEB-05": WEB,
    "WEB-07": WEB,
    "WEB-08": WEB,
}
FOREIGN_CASES: dict[str, str] = {}
