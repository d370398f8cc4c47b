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
    long long joined = nanos(CLOCK_REALTIME), cpu = nanos(CLOCK_PROCESS_CPUTIME_ID), ended[CALLS + 1];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    ended[0] = nanos(CLOCK_MONOTONIC);
    for (int call = 1; call <= CALLS; call++) {
        float one = 1, sum;
        MPI_Allreduce(&one, &sum, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        ended[call] = nanos(CLOCK_MONOTONIC);
    }
    printf("start %d %lld %lld %lld %lld %lld %lld\n", rank, (joined - atoll(getenv("START_NANOS"))) / 1000000, cpu / 1000000,
           ended[0] / 1000, ended[1] / 1000, (ended[2] - ended[1]) / 1000, (ended[CALLS] - ended[CALLS - 1]) / 1000);
    return MPI_Finalize();
}
