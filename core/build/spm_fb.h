/* Google's `.spm.fb`: the model file of SentencePiece Lite, a FlatBuffer without an identifier.
 * Field numbers of its two tables; what they mean is in docs/spm_fb.md. */
#ifndef ISOTOK_BUILD_SPM_FB_H
#define ISOTOK_BUILD_SPM_FB_H

enum {
    SPM_FB_PIECES = 0,     /* [string] */
    SPM_FB_SCORES = 1,     /* [float], not bpe */
    SPM_FB_INT_SCORES = 2, /* [int], bpe */
    SPM_FB_TYPES = 3,      /* [byte] */
    SPM_FB_UNK_ID = 4,     /* int = 0 */
    SPM_FB_UNK_SURFACE = 5,
    SPM_FB_MODEL_TYPE = 6, /* byte = 1 */
    SPM_FB_NORMALIZER = 7, /* table */
    SPM_FB_PIECES_TRIE = 8,
    SPM_FB_USER_TRIE = 9,
    SPM_FB_PAIRS_TRIE = 10,
    SPM_FB_HAS_DIRECT = 11, /* bool = false */
    SPM_FB_IS_DIRECT = 12,  /* [ubyte] */
    SPM_FB_BOS_ID = 13,     /* int = -1, and the next two */
    SPM_FB_EOS_ID = 14,
    SPM_FB_PAD_ID = 15,
    SPM_FB_FIELDS = 16
};
enum {
    SPM_FB_NAME = 0, /* string */
    SPM_FB_CHARSMAP = 1,
    SPM_FB_DUMMY_PREFIX = 2,  /* bool = true, and the next two */
    SPM_FB_REMOVE_SPACES = 3, /* … */
    SPM_FB_ESCAPE = 4,
    SPM_FB_SUFFIX = 5, /* bool = false */
    SPM_FB_NORMALIZER_FIELDS = 6
};

#endif
