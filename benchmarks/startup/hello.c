/* What an MPI program takes to start, as Start.java beside it: MPI_Init, then all-reduces of 4 bytes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#define CALLS 100

static long long nanos(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(int count, char **words) {
    int rank;
    MPI_Init(&count, &words);
    long long joined = nanos(CLOCK_REALTIME), cpu = nanos(CLOCK_PROCESS_CPUTIME_ID), took[CALLS];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int call = 0; call < CALLS; call++) {
        float one = 1, sum;
        long long begun = nanos(CLOCK_MONOTONIC);
        MPI_Allreduce(&one, &sum, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        took[call] = nanos(CLOCK_MONOTONIC) - begun;
    }
    printf("start %d %lld %lld %lld %lld %lld\n", rank, (joined - atoll(getenv("START_NANOS"))) / 1000000, cpu / 1000000,
           took[0] / 1000, took[1] / 1000, took[CALLS - 1] / 1000);
    return MPI_Finalize();
}
