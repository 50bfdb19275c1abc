/* L0: exp and log.
 *
 * ALGORITHM   Reduction by multiples of ln 2, whose upper part has 21 zero bits at the end, so that
 *             products with the exponent are exact; then Taylor series, long enough that what
 *             is left out is far below 1 ulp.
 *             exp: r = x - k ln 2, |r| <= 0.35; e^r = 1 + (r + r^2 (1/2! + r/3! + …)).
 *             log: x = 2^k (1 + f), s = f / (2 + f); log(1 + f) = 2 atanh s, arranged as
 *             f - (f^2/2 - s (f^2/2 + R)), R = 2/3 s^2 + 2/5 s^4 + …, so that the large
 *             term f is added last. */
#include "exp_log.h"

#include "base.h"

#define LN2_UPPER 0.6931471803691238
#define LN2_LOWER 1.9082149292705877e-10
#define LOG2_E 1.4426950408889634
#define SQRT_2 1.4142135623730951

double isotok__exp(double x)
{
    /* 1/13! … 1/2!: factorials are exact, so each quotient is rounded once */
    static const double terms[12] = {1.0 / 6227020800.0, 1.0 / 479001600.0, 1.0 / 39916800.0,
                                     1.0 / 3628800.0,    1.0 / 362880.0,    1.0 / 40320.0,
                                     1.0 / 5040.0,       1.0 / 720.0,       1.0 / 120.0,
                                     1.0 / 24.0,         1.0 / 6.0,         1.0 / 2.0};
    double r, q = 0.0, power, factorial = 6227020800.0;
    uint64_t bits;
    int32_t k, i;
    if (!(x >= -708.0)) return 0.0;
    ISOTOK_ASSERT(x <= 709.0);
    k = (int32_t)(x * LOG2_E + (x < 0.0 ? -0.5 : 0.5));
    r = (x - k * LN2_UPPER) - k * LN2_LOWER;
    for (i = 0; i < 12; i++) { /* either quotient is rounded the same */
        q = q * r + (ISOTOK_EXTRAS ? terms[i] : 1.0 / factorial);
        factorial /= 13 - i;
    }
    bits = (uint64_t)(1023 + k) << 52;
    memcpy(&power, &bits, sizeof power);
    return (1.0 + (r + r * r * q)) * power;
}

double isotok__log(double x)
{
    double f, s, z, half, rest = 0.0;
    uint64_t bits;
    int32_t k, i;
    memcpy(&bits, &x, sizeof bits);
    ISOTOK_ASSERT(bits - 0x0010000000000000u < 0x7FE0000000000000u);
    k = (int32_t)(bits >> 52) - 1023;
    bits = (bits & 0x000FFFFFFFFFFFFFu) | 0x3FF0000000000000u;
    memcpy(&x, &bits, sizeof x);
    if (x > SQRT_2) {
        x *= 0.5;
        k++;
    }
    f = x - 1.0;
    s = f / (2.0 + f);
    z = s * s;
    for (i = 23; i > 1; i -= 2) rest = rest * z + 2.0 / i;
    half = 0.5 * f * f;
    return k * LN2_UPPER - ((half - (s * (half + rest * z) + k * LN2_LOWER)) - f);
}
