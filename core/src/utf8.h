/* L1: UTF-8 characters.
 *
 * Two views that must not be mixed: *characters by lead byte*, as SentencePiece cuts
 * normalized text, valid or not; and *scalars*, well-formed sequences (no overlong form,
 * no surrogate, at most U+10FFFF) that raw text is checked for. */
#ifndef ISOTOK_UTF8_H
#define ISOTOK_UTF8_H

#include "base.h"

/* Length in bytes that the lead byte announces, 1 to 4. */
ISOTOK_INLINE uint32_t isotok__lead_size(uint8_t lead)
{
    return lead < 0xC0 ? 1u : 2u + (uint32_t)(lead >= 0xE0) + (uint32_t)(lead >= 0xF0);
}

/* Character by lead byte at text[0..size), clipped at the end; size > 0. */
ISOTOK_INLINE uint32_t isotok__char_size(const uint8_t *text, size_t size)
{
    uint32_t n = isotok__lead_size(text[0]);
    return n <= size ? n : (uint32_t)size;
}

/* The same, for what need not be fast. */
static inline ISOTOK_COLD uint32_t isotok__announced(uint8_t lead)
{
    return isotok__lead_size(lead);
}

/* Where the character at text[p] ends, p < size: for what need not be fast. */
static inline ISOTOK_COLD uint32_t isotok__char_end(const uint8_t *text, uint32_t p, uint32_t size)
{
    return p + isotok__char_size(text + p, size - p);
}

/* Length of the well-formed scalar at text[0..size), or 0; its code point in `*out_point`.
 * size > 0. */
static inline ISOTOK_SMALL uint32_t isotok__scalar(const uint8_t *text, size_t size,
                                                   uint32_t *out_point)
{
    uint32_t a = text[0], point, need, i;
    if (a < 0x80) {
        *out_point = a;
        return 1;
    }
    if (a < 0xC2 || a > 0xF4) return 0; /* continuation, overlong C0/C1, past U+10FFFF */
    need = isotok__lead_size((uint8_t)a);
    if (need > size) return 0;
    point = a & (0x7Fu >> need);
    i = 1;
    do {
        if ((text[i] & 0xC0) != 0x80) return 0;
        point = point << 6 | (text[i] & 0x3Fu);
    } while (++i < need);
    /* overlong: below 1 << 11, 1 << 16 */
    if (point >> (5 * need - 4) == 0 || point >> 11 == 0x1B || point > 0x10FFFF) return 0;
    *out_point = point;
    return need;
}

/* Whether text[0..size) begins with U+2581. */
static inline ISOTOK_COLD bool isotok__is_symbol(const uint8_t *text, size_t size)
{
    return size >= 3 && text[0] == 0xE2 && text[1] == 0x96 && text[2] == 0x81;
}

/* ISOTOK_UNIT_… of offsets in a scalar of `length` bytes. */
ISOTOK_INLINE uint32_t isotok__scalar_units(uint32_t unit, uint32_t length)
{
    return unit == ISOTOK_UNIT_BYTE ? length : 1u + (unit == ISOTOK_UNIT_UTF16 && length == 4);
}

/* Those of a byte: a scalar has all of its own in the first one, but for bytes. */
ISOTOK_INLINE uint32_t isotok__byte_units(uint32_t unit, uint8_t byte)
{
    if (unit == ISOTOK_UNIT_BYTE) return 1;
    return (byte & 0xC0u) == 0x80 ? 0 : 1u + (unit == ISOTOK_UNIT_UTF16 && byte >= 0xF0);
}

/* Bytes of a code point in UTF-8. */
ISOTOK_INLINE uint32_t isotok__scalar_size(uint32_t point)
{
    return 1u + (point >= 0x80) + (point >= 0x800) + (point >= 0x10000);
}

#endif
