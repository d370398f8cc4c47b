/* What gcc makes of the plain loops, and memcpy: the bound for kernels.
 *   gcc -O3 -march=native bound.c -o bound && ./bound ELEMENTS...
 * Prints "TYPE OP ELEMENTS NANOSECONDS" per run, the fastest of many rounds. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

#define LOOP(name, type, how)                                                                  \
    __attribute__((noinline)) static void name(void *into, const void *from, long n) {        \
        type *a = into;                                                                        \
        const type *b = from;                                                                  \
        for (long i = 0; i < n; i++) { type x = a[i], y = b[i]; a[i] = how; }                  \
    }

static float wide(uint16_t half) {
    uint32_t bits = (uint32_t)half << 16;
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

static uint16_t narrow(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (bits & 0x7fffffff) > 0x7f800000 ? 0x7fc0 : rounded;
}

LOOP(f32_sum, float, x + y)
LOOP(f64_sum, double, x + y)
LOOP(f32_max, float, x > y ? x : y)
LOOP(i8_sum, uint8_t, x + y)
LOOP(i16_sum, uint16_t, x + y)
LOOP(i32_sum, uint32_t, x + y)
LOOP(i64_sum, uint64_t, x + y)
LOOP(bf16_sum, uint16_t, narrow(wide(x) + wide(y)))
#ifdef __FLT16_MAX__
LOOP(f16_sum, _Float16, x + y)
#endif

static void copy(void *into, const void *from, long bytes) { memcpy(into, from, bytes); }

static void measure(const char *name, void (*loop)(void *, const void *, long), long elements, int size) {
    char *a = aligned_alloc(4096, (elements * size | 4095) + 1), *b = aligned_alloc(4096, (elements * size | 4095) + 1);
    memset(a, 0, elements * size);
    memset(b, 0, elements * size);
    long n = loop == copy ? elements * size : elements, calls = 1 + 20000000 / (n + 200);
    double best = 1e18;
    for (int round = 0; round < 15; round++) {
        double start = now();
        for (long call = 0; call < calls; call++) loop(a, b, n);
        double each = (now() - start) / calls;
        if (each < best) best = each;
    }
    printf("%s %ld %.1f\n", name, elements, best);
    free(a);
    free(b);
}

int main(int count, char **given) {
    for (int i = 1; i < count; i++) {
        long n = atol(given[i]);
        measure("f32 copy", copy, n, 4);
        measure("f32 sum", f32_sum, n, 4);
        measure("f32 max", f32_max, n, 4);
        measure("f64 sum", f64_sum, n, 8);
        measure("i8 sum", i8_sum, n, 1);
        measure("i16 sum", i16_sum, n, 2);
        measure("i32 sum", i32_sum, n, 4);
        measure("i64 sum", i64_sum, n, 8);
        measure("bf16 sum", bf16_sum, n, 2);
#ifdef __FLT16_MAX__
        measure("f16 sum", f16_sum, n, 2);
#endif
    }
    return 0;
}
