/*
 * Every type with every operator, against a computation that shares nothing with the libraries: small whole numbers, so
 * that long double is exact and each type can hold the results.
 */
#include "driver.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { COUNT = 6 };

static const int SIZES[TYPES] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
static const char *const NAMES[TYPES] = {"i8", "u8", "i32", "u32", "i64", "u64", "f16", "f32", "f64", "bf16"};

/* What rank r holds at index i. Signed types see negative numbers too. No value is neutral for any operator. */
static int value_of(int type, int rank, int index)
{
    int is_unsigned = type == 1 || type == 3 || type == 5;
    int value = 2 + (rank * 5 + index * 3) % 4;
    return !is_unsigned && (rank + index) % 3 == 0 ? -value : value;
}

/* Half floats of small whole numbers, from a table by hand: 0 to 4096 in 11 bits. */
static uint16_t half_of(double value)
{
    if (value == 0) {
        return 0;
    }
    int exponent;
    double fraction = frexp(fabs(value), &exponent);
    unsigned mantissa = (unsigned) (fraction * 2048) - 1024;
    return (uint16_t) ((value < 0 ? 0x8000 : 0) | (unsigned) (exponent + 14) << 10 | mantissa);
}

static double of_half(uint16_t half)
{
    double magnitude = half == 0 ? 0 : ldexp(1024 + (half & 1023), (half >> 10 & 31) - 25);
    return half & 0x8000 ? -magnitude : magnitude;
}

static void put(int type, char *buffer, int index, int value)
{
    char *place = buffer + index * SIZES[type];
    float as_float = (float) value;
    double as_double = value;
    int64_t as_integer = value;
    uint16_t as_half = half_of(value);
    const void *sources[TYPES] = {&as_integer, &as_integer, &as_integer, &as_integer, &as_integer,
                                  &as_integer, &as_half,    &as_float,   &as_double,  (char *) &as_float + 2};
    /* little-endian: an integer's low bytes come first, and the bfloat is the float's upper half */
    memcpy(place, sources[type], (size_t) SIZES[type]);
}

static double take(int type, const char *buffer, int index)
{
    const char *place = buffer + index * SIZES[type];
    int64_t integer = 0;
    float as_float = 0;
    double as_double = 0;
    uint16_t as_half = 0;
    memcpy(type == 9 ? (char *) &as_float + 2 : (char *) &as_float, place, type == 9 ? 2 : 4 * (type == 7));
    memcpy(&as_double, place, type == 8 ? 8 : 0);
    memcpy(&as_half, place, type == 6 ? 2 : 0);
    memcpy(&integer, place, type <= 5 ? (size_t) SIZES[type] : 0);
    switch (type) {
    case 0:
        return (int8_t) integer;
    case 2:
        return (int32_t) integer;
    case 6:
        return of_half(as_half);
    case 8:
        return as_double;
    case 7:
    case 9:
        return as_float;
    default:
        return (double) integer;
    }
}

static double expected(int type, int op, int size, int index)
{
    double result = value_of(type, 0, index);
    for (int rank = 1; rank < size; rank++) {
        double next = value_of(type, rank, index);
        result = op == PRODUCT   ? result * next
                 : op == MAXIMUM ? fmax(result, next)
                 : op == MINIMUM ? fmin(result, next)
                                 : result + next;
    }
    if (op != AVERAGE) {
        return result;
    }
    return type <= 5 ? trunc(result / size) : result / size;
}

/* A byte holds products up to 127 or 255 only; there the comparison is of the low 8 bits. */
static double wrapped(int type, double value)
{
    return type == 0 ? (int8_t) (int64_t) value : type == 1 ? (uint8_t) (int64_t) value : value;
}

static void check_results(const Rank *self, const char *call, int type, int op, int first)
{
    double tolerance = op == AVERAGE && type == 9 ? 0.05 : op == AVERAGE && type == 6 ? 0.01 : 1e-5;
    for (int i = 0; i < COUNT; i++) {
        double want = wrapped(type, expected(type, op, self->size, first + i));
        double got = take(type, self->host, i);
        if (fabs(got - want) > (type <= 5 || op != AVERAGE ? 0 : tolerance)) {
            fprintf(stderr, "%s %s op %d index %d: %g, expected %g\n", call, NAMES[type], op, i, got, want);
            expect(1, 0, "%s", call);
        }
    }
}

static void fill(Rank *self, int type, int count)
{
    for (int i = 0; i < count; i++) {
        put(type, self->host, i, value_of(type, self->rank, i));
    }
    rank_upload(self, (size_t) (count * SIZES[type]));
}

static void check_all_reduce(Rank *self, int type, int op)
{
    fill(self, type, COUNT);
    expect(ncclAllReduce(self->send, self->receive, COUNT, type, op, self->comm, self->stream), 0, "all-reduce");
    rank_download(self, (size_t) (COUNT * SIZES[type]));
    check_results(self, "all-reduce", type, op, 0);
}

/* The buffer of a rank that is not the root keeps its mark. */
static void check_reduce(Rank *self, int type, int op)
{
    int root = self->size - 1;
    fill(self, type, COUNT);
    expect(cudaMemsetAsync(self->receive, 0x5a, BUFFER_BYTES, self->stream), 0, "mark");
    expect(ncclReduce(self->send, self->receive, COUNT, type, op, root, self->comm, self->stream), 0, "reduce");
    rank_download(self, (size_t) (COUNT * SIZES[type]));
    if (self->rank == root) {
        check_results(self, "reduce", type, op, 0);
    }
    for (int i = 0; i < COUNT * SIZES[type] && self->rank != root; i++) {
        expect(self->host[i], 0x5a, "reduce: byte %d of a rank that is not the root", i);
    }
}

static void check_reduce_scatter(Rank *self, int type, int op)
{
    fill(self, type, COUNT * self->size);
    expect(ncclReduceScatter(self->send, self->receive, COUNT, type, op, self->comm, self->stream), 0,
           "reduce-scatter");
    rank_download(self, (size_t) (COUNT * SIZES[type]));
    check_results(self, "reduce-scatter", type, op, COUNT * self->rank);
}

/*
 * 2048 + 3 lies halfway between two halves, 2050 and 2052, and 256 + 3 between two bfloats, 258 and 260: in both cases
 * the second one is even.
 */
static void check_rounding(Rank *self)
{
    static const int types[] = {6, 9};
    static const int large[] = {2048, 256};
    static const int rounded[] = {2052, 260};
    for (int i = 0; i < 2 && self->size > 1; i++) {
        put(types[i], self->host, 0, self->rank == 0 ? large[i] : self->rank == 1 ? 3 : 0);
        rank_upload(self, 2);
        expect(ncclAllReduce(self->send, self->receive, 1, types[i], SUM, self->comm, self->stream), 0, "all-reduce");
        rank_download(self, 2);
        expect((int64_t) take(types[i], self->host, 0), rounded[i], "rounding of %s", NAMES[types[i]]);
    }
}

void check_arithmetic(Rank *self)
{
    check_rounding(self);
    for (int type = 0; type < TYPES; type++) {
        for (int op = 0; op < OPERATORS; op++) {
            check_all_reduce(self, type, op);
            check_reduce(self, type, op);
            check_reduce_scatter(self, type, op);
        }
    }
}
