/*
 * How fast this device copies its own memory, without ferro and without Java: gpu/report puts it beside ferro's figure.
 *
 *   cc -O2 bandwidth.c /path/to/libcudart.so.N -o bandwidth && ./bandwidth MIB
 *
 * The functions are declared here so that no header of CUDA is needed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int cudaMalloc(void **memory, size_t bytes);
int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream);
int cudaStreamCreateWithFlags(void **stream, unsigned flags);
int cudaStreamSynchronize(void *stream);
const char *cudaGetErrorString(int code);

enum { DEVICE_TO_DEVICE = 3, NON_BLOCKING = 1, COPIES = 10, REPEATS = 9 };

static void check(int code, const char *call)
{
    if (code != 0) {
        fprintf(stderr, "%s answered %d: %s\n", call, code, cudaGetErrorString(code));
        exit(1);
    }
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec + (double) now.tv_nsec * 1e-9;
}

static int ascending(const void *left, const void *right)
{
    double difference = *(const double *) left - *(const double *) right;
    return (difference > 0) - (difference < 0);
}

static double copies(void *to, const void *from, size_t bytes, void *stream)
{
    double start = seconds();
    for (int copy = 0; copy < COPIES; copy++) {
        check(cudaMemcpyAsync(to, from, bytes, DEVICE_TO_DEVICE, stream), "cudaMemcpyAsync");
    }
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    return seconds() - start;
}

int main(int argc, char **argv)
{
    size_t bytes = (size_t) (argc > 1 ? strtol(argv[1], NULL, 10) : 256) << 20;
    void *from, *to, *stream;
    double times[REPEATS];
    check(cudaMalloc(&from, bytes), "cudaMalloc");
    check(cudaMalloc(&to, bytes), "cudaMalloc");
    check(cudaStreamCreateWithFlags(&stream, NON_BLOCKING), "cudaStreamCreateWithFlags");
    copies(to, from, bytes, stream);
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        times[repeat] = copies(to, from, bytes, stream);
    }
    qsort(times, REPEATS, sizeof *times, ascending);
    printf("%.2f GB/s read and written", 2.0 * (double) bytes * COPIES / times[REPEATS / 2] / 1e9);
    return 0;
}
