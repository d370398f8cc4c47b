/* Arithmetic on NCCL's element types. */
#ifndef NUMBERS_H
#define NUMBERS_H

#include <stddef.h>
#include <stdint.h>

float half_to_float(uint16_t half);
uint16_t float_to_half(float value);
float bfloat_to_float(uint16_t bfloat);
uint16_t float_to_bfloat(float value);

/* Reduces `count` elements of all ranks, in the order of the ranks, into `result`, which is none of them. */
void reduce_elements(int type, int op, const char *const *sources, int ranks, size_t count, char *result);

#endif
