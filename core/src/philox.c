/* L0: Philox4x32-10. See philox.h. */
#include "philox.h"

void isotok__philox(uint64_t key, const uint32_t counter[4], uint32_t out[4])
{
    uint32_t a = counter[0], b = counter[1], c = counter[2], d = counter[3];
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32), round;
    for (round = 0; round < 10; round++) {
        const uint64_t x = (uint64_t)a * 0xD2511F53u, y = (uint64_t)c * 0xCD9E8D57u;
        a = (uint32_t)(y >> 32) ^ b ^ k0;
        b = (uint32_t)y;
        c = (uint32_t)(x >> 32) ^ d ^ k1;
        d = (uint32_t)x;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = a;
    out[1] = b;
    out[2] = c;
    out[3] = d;
}

double isotok__draw(const struct isotok__draw *draw)
{
    const uint32_t counter[4] = {(uint32_t)draw->place, (uint32_t)(draw->place >> 32), draw->detail,
                                 draw->purpose};
    uint32_t out[4];
    isotok__philox(draw->seed, counter, out);
    return ((double)(((uint64_t)out[1] << 32 | out[0]) >> 12) + 0.5) / 4503599627370496.0;
}
