/* L0: exp and log in double precision, by + - * / and bits alone: the same bits on every
 * machine (no libm, no fused multiply-add: core/cflags.txt). Error below 1 ulp
 * (tests/c/test_sampling.c measures it). */
#ifndef ISOTOK_EXP_LOG_H
#define ISOTOK_EXP_LOG_H

/* e^x for x <= 709; 0 for x < -708, where results would lose precision. */
double isotok__exp(double x);

/* Natural logarithm of a finite x >= 2^-1022. */
double isotok__log(double x);

#endif
