/*
 * Reductions with NCCL's semantics (its device code, src/device/reduce_kernel.h, and hostToDevRedOp in src/enqueue.cc):
 * integers wrap at their width; an average of integers is the sum, then a division toward zero; an average of floats
 * multiplies each rank's value by 1/ranks first, then sums; every step of a float is rounded to its type; the minimum
 * and the maximum of a number and a NaN is the number.
 */
#include "numbers.h"
#include "request.h"

#include <math.h>

/* ---- integers: 64 bits, sign-extended if the type is signed ---- */

static int is_signed(int type)
{
    return type == INT8 || type == INT32 || type == INT64;
}

static int is_integer(int type)
{
    return type <= UINT64;
}

static uint64_t load_integer(int type, const char *source, size_t index)
{
    switch (type) {
    case INT8:
        return (uint64_t) ((const int8_t *) source)[index];
    case UINT8:
        return ((const uint8_t *) source)[index];
    case INT32:
        return (uint64_t) ((const int32_t *) source)[index];
    case UINT32:
        return ((const uint32_t *) source)[index];
    default:
        return ((const uint64_t *) source)[index];
    }
}

static void store_integer(int type, char *result, size_t index, uint64_t value)
{
    switch (type_bytes(type)) {
    case 1:
        ((uint8_t *) result)[index] = (uint8_t) value;
        break;
    case 4:
        ((uint32_t *) result)[index] = (uint32_t) value;
        break;
    default:
        ((uint64_t *) result)[index] = value;
        break;
    }
}

static int less(int type, uint64_t one, uint64_t other)
{
    return is_signed(type) ? (int64_t) one < (int64_t) other : one < other;
}

static uint64_t combine_integers(int type, int op, uint64_t one, uint64_t other)
{
    switch (op) {
    case PRODUCT:
        return one * other;
    case MAXIMUM:
        return less(type, one, other) ? other : one;
    case MINIMUM:
        return less(type, other, one) ? other : one;
    default:
        return one + other;
    }
}

/* C's division goes toward zero. */
static uint64_t divide(int type, uint64_t sum, int ranks)
{
    return is_signed(type) ? (uint64_t) ((int64_t) sum / ranks) : sum / (uint64_t) ranks;
}

static void reduce_integer(int type, int op, const char *const *sources, int ranks, size_t index, char *result)
{
    uint64_t value = load_integer(type, sources[0], index);
    for (int rank = 1; rank < ranks; rank++) {
        value = combine_integers(type, op, value, load_integer(type, sources[rank], index));
    }
    store_integer(type, result, index, value);
    if (op == AVERAGE) { /* of the sum as it is at the type's width */
        store_integer(type, result, index, divide(type, load_integer(type, result, index), ranks));
    }
}

/* ---- floats: a double holds the exact result of one step, or enough bits that rounding again does no harm ---- */

static double load_real(int type, const char *source, size_t index)
{
    switch (type) {
    case FLOAT16:
        return half_to_float(((const uint16_t *) source)[index]);
    case BFLOAT16:
        return bfloat_to_float(((const uint16_t *) source)[index]);
    case FLOAT32:
        return ((const float *) source)[index];
    default:
        return ((const double *) source)[index];
    }
}

static void store_real(int type, char *result, size_t index, double value)
{
    switch (type) {
    case FLOAT16:
        ((uint16_t *) result)[index] = float_to_half((float) value);
        break;
    case BFLOAT16:
        ((uint16_t *) result)[index] = float_to_bfloat((float) value);
        break;
    case FLOAT32:
        ((float *) result)[index] = (float) value;
        break;
    default:
        ((double *) result)[index] = value;
        break;
    }
}

static double round_to(int type, double value)
{
    switch (type) {
    case FLOAT16:
        return half_to_float(float_to_half((float) value));
    case BFLOAT16:
        return bfloat_to_float(float_to_bfloat((float) value));
    case FLOAT32:
        return (float) value;
    default:
        return value;
    }
}

static double combine_reals(int op, double one, double other)
{
    switch (op) {
    case PRODUCT:
        return one * other;
    case MAXIMUM:
        return fmax(one, other);
    case MINIMUM:
        return fmin(one, other);
    default:
        return one + other;
    }
}

static void reduce_real(int type, int op, const char *const *sources, int ranks, size_t index, char *result)
{
    double factor = op == AVERAGE ? round_to(type, 1.0 / ranks) : 1;
    double value = round_to(type, factor * load_real(type, sources[0], index));
    for (int rank = 1; rank < ranks; rank++) {
        double next = round_to(type, factor * load_real(type, sources[rank], index));
        value = round_to(type, combine_reals(op, value, next));
    }
    store_real(type, result, index, value);
}

void reduce_elements(int type, int op, const char *const *sources, int ranks, size_t count, char *result)
{
    for (size_t index = 0; index < count; index++) {
        if (is_integer(type)) {
            reduce_integer(type, op, sources, ranks, index, result);
        } else {
            reduce_real(type, op, sources, ranks, index, result);
        }
    }
}
