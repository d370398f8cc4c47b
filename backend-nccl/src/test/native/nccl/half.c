/* The two 16-bit floats; rounding is to the nearest, ties to even. */
#include "numbers.h"

#include <math.h>
#include <string.h>

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* IEEE 754 binary16: 1 sign bit, 5 of exponent (bias 15), 10 of fraction. */
float half_to_float(uint16_t half)
{
    int exponent = half >> 10 & 0x1f;
    int fraction = half & 0x3ff;
    float magnitude;
    if (exponent == 0x1f) {
        magnitude = fraction == 0 ? INFINITY : NAN;
    } else if (exponent == 0) {
        magnitude = ldexpf((float) fraction, -24);
    } else {
        magnitude = ldexpf((float) (fraction | 0x400), exponent - 25);
    }
    return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

uint16_t float_to_half(float value)
{
    uint16_t sign = (uint16_t) (bits_of(value) >> 16 & 0x8000);
    float magnitude = fabsf(value);
    if (isnan(value)) {
        return 0x7e00;
    }
    if (magnitude >= 65520.0f) { /* halfway between the largest half, 65504, and the next step */
        return sign | 0x7c00;
    }
    int exponent;
    frexpf(magnitude, &exponent);
    /* The last place of the result is worth 2^unit; below 2^-14, the least normal half, that no longer shrinks. */
    int unit = magnitude < 0x1p-14f ? -24 : exponent - 11;
    int steps = (int) rintf(ldexpf(magnitude, -unit));
    /* 1024 steps are the hidden bit; 2048, after rounding up, carry into the exponent by the same addition. */
    return (uint16_t) (sign | (((unit + 24) << 10) + steps));
}

/* The upper half of a binary32. */
float bfloat_to_float(uint16_t bfloat)
{
    return float_of((uint32_t) bfloat << 16);
}

uint16_t float_to_bfloat(float value)
{
    if (isnan(value)) {
        return 0x7fc0;
    }
    uint32_t bits = bits_of(value);
    uint32_t last_place = bits >> 16 & 1;
    return (uint16_t) ((bits + 0x7fff + last_place) >> 16);
}
