/* Threads that are counted, pauses, and memory that is there or ends the process: nothing here can be recovered. */
#include "core.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static atomic_int threads;

void core_start_thread(void *(*body)(void *), void *argument)
{
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    atomic_fetch_add(&threads, 1);
    pthread_t thread;
    if (pthread_create(&thread, &detached, body, argument) != 0) {
        perror("stand-in: no more threads");
        abort();
    }
    pthread_attr_destroy(&detached);
}

void core_thread_ends(void)
{
    atomic_fetch_sub(&threads, 1);
}

EXPORT int standInThreads(void)
{
    return atomic_load(&threads);
}

void core_sleep_micros(int micros)
{
    if (micros <= 0) {
        return;
    }
    struct timespec rest = {micros / 1000000, (long) (micros % 1000000) * 1000};
    while (nanosleep(&rest, &rest) != 0 && errno == EINTR) {
    }
}

void *core_allocate(size_t bytes)
{
    void *memory = calloc(1, bytes == 0 ? 1 : bytes);
    if (memory == NULL) {
        perror("stand-in: no more memory");
        abort();
    }
    return memory;
}
