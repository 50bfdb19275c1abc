/* Field numbers of sentencepiece_model.proto: those that matter at run time. */
#ifndef ISOTOK_BUILD_SENTENCEPIECE_FIELDS_H
#define ISOTOK_BUILD_SENTENCEPIECE_FIELDS_H

enum { MODEL_PIECES = 1, MODEL_TRAINER = 2, MODEL_NORMALIZER = 3, MODEL_DENORMALIZER = 5 };
enum { PIECE_TEXT = 1, PIECE_SCORE = 2, PIECE_TYPE = 3 };
enum {
    TRAINER_MODEL_TYPE = 3,
    TRAINER_VOCAB_SIZE = 4,
    TRAINER_SUFFIX = 24,
    TRAINER_BYTE_FALLBACK = 35,
    TRAINER_UNK_ID = 40, /* the ids are for other readers: SentencePiece goes by the texts */
    TRAINER_BOS_ID = 41,
    TRAINER_EOS_ID = 42,
    TRAINER_PAD_ID = 43,
    TRAINER_UNK_SURFACE = 44,
    TRAINER_UNK = 45,
    TRAINER_BOS = 46,
    TRAINER_EOS = 47,
    TRAINER_PAD = 48
};
enum {
    NORMALIZER_CHARSMAP = 2,
    NORMALIZER_DUMMY_PREFIX = 3,
    NORMALIZER_REMOVE_SPACES = 4,
    NORMALIZER_ESCAPE = 5
};

#endif
