/* One rank, many ranks, and expectations. */
#include "driver.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static atomic_int failed;

void expect(int64_t found, int64_t expected, const char *what, ...)
{
    if (found == expected) {
        return;
    }
    atomic_fetch_add(&failed, 1);
    char text[256];
    va_list values;
    va_start(values, what);
    vsnprintf(text, sizeof text, what, values);
    va_end(values);
    fprintf(stderr, "WRONG: %s: found %lld, expected %lld (%s)\n", text, (long long) found, (long long) expected,
            ncclGetLastError(NULL));
}

int failures(void)
{
    return atomic_load(&failed);
}

/* ---- one rank ---- */

void rank_open(Rank *self, const UniqueId *id, int rank, int size)
{
    self->rank = rank;
    self->size = size;
    self->host = calloc(1, BUFFER_BYTES);
    expect(cudaSetDevice(rank), 0, "set device %d", rank);
    expect(cudaStreamCreateWithFlags(&self->stream, 1), 0, "stream");
    expect(cudaMalloc(&self->send, BUFFER_BYTES), 0, "send buffer");
    expect(cudaMalloc(&self->receive, BUFFER_BYTES), 0, "receive buffer");
    expect(ncclCommInitRank(&self->comm, size, *id, rank), 0, "init of rank %d", rank);
}

void rank_free(Rank *self)
{
    expect(cudaStreamSynchronize(self->stream), 0, "last wait");
    expect(cudaStreamDestroy(self->stream), 0, "destroy stream");
    expect(cudaFree(self->send), 0, "free send");
    expect(cudaFree(self->receive), 0, "free receive");
    free(self->host);
}

void rank_close(Rank *self)
{
    expect(ncclCommDestroy(self->comm), 0, "destroy communicator");
    rank_free(self);
}

void rank_upload(Rank *self, size_t bytes)
{
    expect(cudaMemcpyAsync(self->send, self->host, bytes, HOST_TO_DEVICE, self->stream), 0, "upload");
    expect(cudaStreamSynchronize(self->stream), 0, "wait for upload");
}

void rank_download(Rank *self, size_t bytes)
{
    expect(cudaMemcpyAsync(self->host, self->receive, bytes, DEVICE_TO_HOST, self->stream), 0, "download");
    expect(cudaStreamSynchronize(self->stream), 0, "wait for download");
}

/* ---- many ranks ---- */

typedef struct {
    pthread_t thread;
    const UniqueId *id;
    int rank;
    int size;
    void (*body)(Rank *self);
} RankThread;

static void *run_rank(void *argument)
{
    RankThread *thread = argument;
    Rank self = {0};
    rank_open(&self, thread->id, thread->rank, thread->size);
    thread->body(&self);
    return NULL;
}

void on_threads(int size, void (*body)(Rank *self))
{
    UniqueId id;
    RankThread threads[16];
    expect(ncclGetUniqueId(&id), 0, "unique id");
    for (int rank = 0; rank < size; rank++) {
        threads[rank] = (RankThread){.id = &id, .rank = rank, .size = size, .body = body};
        pthread_create(&threads[rank].thread, NULL, run_rank, &threads[rank]);
    }
    for (int rank = 0; rank < size; rank++) {
        pthread_join(threads[rank].thread, NULL);
    }
}

/* ---- waiting ---- */

void until(int (*condition)(void *), void *context, const char *what)
{
    struct timespec pause = {0, 2000000};
    int tries = 2500;
    while (!condition(context) && tries > 0) {
        nanosleep(&pause, NULL);
        tries--;
    }
    expect(condition(context), 1, "within 5 s: %s", what);
}

int nothing_is_live(void *unused)
{
    (void) unused;
    return standInLive("all") == 0;
}

int no_thread_runs(void *unused)
{
    (void) unused;
    return standInThreads() == 0;
}
