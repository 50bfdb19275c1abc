"""Messages of model files; needs the package protobuf."""

from __future__ import annotations

from isotok.compat.sentencepiece import _messages

_messages.add_file(
    "sentencepiece_model.proto",
    {
        "TrainerSpec": """
            1 [string] input
            7 string input_format
            2 string model_prefix
            3 TrainerSpec.ModelType model_type UNIGRAM
            4 int32 vocab_size 8000
            5 [string] accept_language
            6 int32 self_test_sample_size 0
            10 float character_coverage 0.9995
            11 uint64 input_sentence_size 0
            12 int32 mining_sentence_size
            13 int32 training_sentence_size
            14 int32 seed_sentencepiece_size 1000000
            15 float shrinking_factor 0.75
            16 int32 num_threads 16
            17 int32 num_sub_iterations 2
            18 int32 max_sentence_length 4192
            19 bool shuffle_input_sentence true
            20 int32 max_sentencepiece_length 16
            21 bool split_by_unicode_script true
            22 bool split_by_whitespace true
            23 bool split_by_number true
            24 bool treat_whitespace_as_suffix false
            25 bool split_digits false
            26 bool allow_whitespace_only_pieces false
            30 [string] control_symbols
            31 [string] user_defined_symbols
            32 bool vocabulary_output_piece_score true
            33 bool hard_vocab_limit true
            34 bool use_all_vocab false
            35 bool byte_fallback false
            36 string required_chars
            40 int32 unk_id 0
            41 int32 bos_id 1
            42 int32 eos_id 2
            43 int32 pad_id -1
            44 string unk_surface " \u2047 "
            45 string unk_piece <unk>
            46 string bos_piece <s>
            47 string eos_piece </s>
            48 string pad_piece <pad>
            49 bool train_extremely_large_corpus false
            50 bool enable_differential_privacy false
            51 float differential_privacy_noise_level 0
            52 uint64 differential_privacy_clipping_threshold 0
            53 string pretokenization_delimiter ""
            54 string seed_sentencepieces_file ""
            55 bool auto_character_coverage false
        """,
        "NormalizerSpec": """
            1 string name
            2 bytes precompiled_charsmap
            3 bool add_dummy_prefix true
            4 bool remove_extra_whitespaces true
            5 bool escape_whitespaces true
            6 string normalization_rule_tsv
        """,
        "ModelProto": """
            1 [ModelProto.SentencePiece] pieces
            2 TrainerSpec trainer_spec
            3 NormalizerSpec normalizer_spec
            5 NormalizerSpec denormalizer_spec
        """,
        "ModelProto.SentencePiece": """
            1 string piece
            2 float score
            3 ModelProto.SentencePiece.Type type NORMAL
        """,
    },
    {
        "TrainerSpec.ModelType": {"UNIGRAM": 1, "BPE": 2, "WORD": 3, "CHAR": 4},
        "ModelProto.SentencePiece.Type": {
            "NORMAL": 1,
            "UNKNOWN": 2,
            "CONTROL": 3,
            "USER_DEFINED": 4,
            "UNUSED": 5,
            "BYTE": 6,
        },
    },
)

TrainerSpec = _messages.message_class("TrainerSpec")
NormalizerSpec = _messages.message_class("NormalizerSpec")
ModelProto = _messages.message_class("ModelProto")

__all__ = ["ModelProto", "NormalizerSpec", "TrainerSpec"]
