/* Communicators that are used wrongly, are stuck, are aborted, or cannot be made. */
#include "driver.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { OK, CUDA_ERROR, SYSTEM_ERROR, INTERNAL_ERROR, INVALID_ARGUMENT, INVALID_USAGE, REMOTE_ERROR, IN_PROGRESS };
enum { NOT_READY = 600, COUNT = 4, RACES = 200 };

static int all_reduce(Rank *self)
{
    return ncclAllReduce(self->send, self->receive, COUNT, INT32, SUM, self->comm, self->stream);
}

static int async_error(void *comm)
{
    int code = -1;
    expect(ncclCommGetAsyncError(comm, &code), OK, "async error");
    return code;
}

/* ---- with two ranks as threads ---- */

static void abort_and_free(Rank *self)
{
    expect(ncclCommAbort(self->comm), OK, "abort");
    rank_free(self);
}

static void stuck_until_aborted(Rank *self)
{
    if (self->rank == 0) {
        expect(all_reduce(self), OK, "all-reduce alone");
        usleep(20000);
        expect(cudaStreamQuery(self->stream), NOT_READY, "stuck");
        expect(async_error(self->comm), OK, "and nobody says so");
    }
    abort_and_free(self);
}

static int has_failed(void *comm)
{
    return async_error(comm) != OK;
}

static void different_counts(Rank *self)
{
    size_t count = self->rank == 0 ? COUNT : COUNT - 1;
    expect(ncclAllReduce(self->send, self->receive, count, INT32, SUM, self->comm, self->stream), OK, "all-reduce");
    until(has_failed, self->comm, "mismatch is seen");
    expect(async_error(self->comm), INVALID_USAGE, "mismatch");
    abort_and_free(self);
}

/* The larger operation succeeds, the smaller one hears that its message was cut. */
static void cut_short(Rank *self)
{
    size_t count = self->rank == 0 ? COUNT : COUNT - 1;
    expect(ncclAllReduce(self->send, self->receive, count, INT32, SUM, self->comm, self->stream), OK, "all-reduce");
    if (self->rank == 0) {
        expect(cudaStreamSynchronize(self->stream), OK, "the larger one");
        expect(async_error(self->comm), OK, "knows nothing");
    } else {
        until(has_failed, self->comm, "the smaller one");
        expect(async_error(self->comm), INVALID_USAGE, "a longer message has come");
    }
    abort_and_free(self);
}

/* Operations of one size pass, and the next smaller one fails. */
static void cut_later(Rank *self)
{
    int code = self->rank == 0
        ? ncclAllReduce(self->send, self->receive, COUNT, INT32, SUM, self->comm, self->stream)
        : ncclBroadcast(self->send, self->receive, COUNT, INT32, 1, self->comm, self->stream);
    expect(code, OK, "of one size");
    expect(cudaStreamSynchronize(self->stream), OK, "both succeed");
    if (self->rank == 1) {
        expect(ncclAllReduce(self->send, self->receive, 1, INT32, SUM, self->comm, self->stream), OK, "the next");
        until(has_failed, self->comm, "the next one");
        expect(async_error(self->comm), INVALID_USAGE, "reads what was left");
    }
    abort_and_free(self);
}

static void wrong_arguments(Rank *self)
{
    char host[16] = "";
    void *stream = self->stream;
    void *comm = self->comm;
    expect(ncclAllReduce(host, self->receive, 1, INT32, SUM, comm, stream), INVALID_ARGUMENT, "host memory");
    expect(ncclAllReduce(self->send, self->receive, 1, 99, SUM, comm, stream), INVALID_ARGUMENT, "type");
    expect(ncclAllReduce(self->send, self->receive, 1, INT32, 99, comm, stream), INVALID_ARGUMENT, "op");
    expect(ncclBroadcast(self->send, self->receive, 1, INT32, 2, comm, stream), INVALID_ARGUMENT, "root");
    expect(ncclAllReduce(self->send, self->receive, BUFFER_BYTES, INT32, SUM, comm, stream), INVALID_ARGUMENT, "size");
    if (self->rank == 0) {
        expect(ncclAllReduce(NULL, NULL, 0, INT32, SUM, comm, stream), OK, "nothing to do");
        expect(cudaStreamQuery(stream), OK, "no waiting for rank 1");
    }
    expect(ncclAllReduce(self->send, self->receive, 1, INT32, SUM, NULL, stream), INVALID_ARGUMENT, "no communicator");
    expect(ncclGroupEnd(), INVALID_USAGE, "no group");
    rank_close(self);
}

/* An error inside of a group is the group's: nothing of it is launched. */
static void error_in_group(Rank *self)
{
    expect(ncclGroupStart(), OK, "start");
    expect(all_reduce(self), OK, "good");
    expect(ncclAllReduce(NULL, NULL, 1, INT32, SUM, self->comm, self->stream), INVALID_ARGUMENT, "bad");
    expect(ncclGroupEnd(), INVALID_ARGUMENT, "end");
    expect(cudaStreamSynchronize(self->stream), 0, "nothing runs");
    rank_close(self);
}

static void hanging(Rank *self)
{
    expect(all_reduce(self), OK, "all-reduce");
    usleep(20000);
    expect(cudaStreamQuery(self->stream), NOT_READY, "hangs though all are here");
    abort_and_free(self);
}

/* ---- leaving an operation early ---- */

static atomic_int gone;

static int is_gone(void *unused)
{
    (void) unused;
    return atomic_load(&gone);
}

static int broadcast(Rank *self)
{
    return ncclBroadcast(self->send, self->receive, COUNT, INT32, 0, self->comm, self->stream);
}

static int has_passed(void *stream)
{
    return cudaStreamQuery(stream) == OK;
}

static void root_stays(Rank *self)
{
    if (self->rank == 0) {
        memset(self->host, 7, COUNT * sizeof(int32_t));
        rank_upload(self, COUNT * sizeof(int32_t));
        expect(broadcast(self), OK, "broadcast");
        until(has_passed, self->stream, "the root goes on before rank 1 has come");
        memset(self->host, 9, COUNT * sizeof(int32_t));
        rank_upload(self, COUNT * sizeof(int32_t));
        atomic_store(&gone, 1);
    } else {
        until(is_gone, NULL, "the root has gone on");
        expect(broadcast(self), OK, "broadcast");
        rank_download(self, COUNT * sizeof(int32_t));
        expect(self->host[0], 7, "what the root gave");
    }
    expect(all_reduce(self), OK, "the last one");
    rank_close(self);
}

static void root_leaves(Rank *self)
{
    if (self->rank == 0) {
        expect(broadcast(self), OK, "broadcast");
        until(has_passed, self->stream, "the root goes on before rank 1 has come");
        rank_close(self);
        atomic_store(&gone, 1);
        return;
    }
    until(is_gone, NULL, "the root has left");
    expect(broadcast(self), OK, "broadcast");
    usleep(20000);
    expect(cudaStreamQuery(self->stream), NOT_READY, "what the root had is gone");
    abort_and_free(self);
}

static void leaves_others_running(Rank *self)
{
    expect(all_reduce(self), OK, "all-reduce");
    if (self->rank == 0) {
        expect(cudaStreamSynchronize(self->stream), OK, "wait");
        rank_close(self);
        return;
    }
    usleep(100000);
    expect(cudaStreamQuery(self->stream), NOT_READY, "rank 0 was quicker, and has left");
    abort_and_free(self);
}

static void check_leaving(void)
{
    standInEarlyReturns(1);
    on_threads(2, root_stays);
    atomic_store(&gone, 0);
    on_threads(2, root_leaves);
    atomic_store(&gone, 0);
    standInTail(50000);
    on_threads(2, leaves_others_running);
    standInReset();
}

/* ---- opening ---- */

static void check_openings(void)
{
    UniqueId id;
    void *comm = &id;
    void *pair[2];
    int same[] = {1, 1};
    expect(ncclGetUniqueId(&id), OK, "id");
    expect(ncclCommInitRank(&comm, 1, id, 1), INVALID_ARGUMENT, "rank 1 of 1");
    standInFailNext("ncclCommInitRank", 0, SYSTEM_ERROR);
    expect(ncclCommInitRank(&comm, 1, id, 0), SYSTEM_ERROR, "planned");
    expect(comm == &id, 1, "out-parameter untouched");
    memset(&id, 0, sizeof id);
    expect(ncclCommInitRank(&comm, 1, id, 0), INVALID_ARGUMENT, "zero id");
    expect(ncclCommInitAll(pair, 2, same), INVALID_USAGE, "one device twice");
    expect(ncclCommInitAll(pair, 99, NULL), INVALID_ARGUMENT, "99 devices");
    expect(standInLive("comm"), 0, "no communicator is left");
}

static void check_all_in_one_thread(void)
{
    void *comms[3];
    expect(ncclCommInitAll(comms, 3, NULL), OK, "init all");
    expect(standInLive("comm"), 3, "three communicators");
    for (int i = 0; i < 3; i++) {
        expect(ncclCommFinalize(comms[i]), OK, "finalize");
        expect(ncclCommDestroy(comms[i]), OK, "destroy");
    }
    expect(ncclCommDestroy(comms[0]), INVALID_ARGUMENT, "destroyed twice");
    expect(ncclCommAbort(comms[0]), INVALID_ARGUMENT, "aborted after that");
    expect(standInMisuse(), 2, "both counted");
    standInReset();
}

static int is_ready(void *comm)
{
    return async_error(comm) == OK;
}

/*
 * The first operation of a non-blocking communicator is on its stream only when its state is 0 again. One thread drives
 * both ranks, on the default streams of their devices.
 */
static void check_connecting(void **comms)
{
    void *buffers[2];
    expect(ncclGroupStart(), OK, "start");
    for (int rank = 0; rank < 2; rank++) {
        cudaSetDevice(rank);
        expect(cudaMalloc(&buffers[rank], 4), 0, "malloc");
        expect(ncclAllReduce(buffers[rank], buffers[rank], 1, INT32, SUM, comms[rank], NULL), OK, "all-reduce");
    }
    expect(ncclGroupEnd(), IN_PROGRESS, "the ranks are being connected");
    expect(async_error(comms[0]), IN_PROGRESS, "state");
    expect(cudaStreamQuery(NULL), 0, "nothing is on the stream");
    expect(ncclBroadcast(buffers[0], buffers[0], 1, INT32, 0, comms[0], NULL), INVALID_ARGUMENT, "too early");
    until(is_ready, comms[0], "connected");
    for (int rank = 0; rank < 2; rank++) {
        cudaSetDevice(rank);
        expect(cudaStreamSynchronize(NULL), 0, "wait");
        expect(cudaFree(buffers[rank]), 0, "free");
    }
}

/* One thread opens two ranks without blocking; the second one completes the world. */
static void check_not_blocking(void)
{
    struct {
        size_t size;
        unsigned magic, version;
        int blocking;
    } config = {sizeof config, 0xcafebeef, 21403, 0};
    UniqueId id;
    void *comms[2];
    expect(ncclGetUniqueId(&id), OK, "id");
    for (int rank = 0; rank < 2; rank++) {
        expect(cudaSetDevice(rank), 0, "device");
        expect(ncclCommInitRankConfig(&comms[rank], 2, id, rank, &config), IN_PROGRESS, "open rank %d", rank);
        expect(async_error(comms[0]), rank == 0 ? IN_PROGRESS : OK, "after rank %d", rank);
    }
    standInConnectTime(50000);
    check_connecting(comms);
    standInConnectTime(1000);
    expect(ncclCommDestroy(comms[0]), OK, "destroy");
    expect(ncclCommAbort(comms[1]), OK, "abort");
    config.magic = 0;
    expect(ncclCommInitRankConfig(&comms[0], 2, id, 0, &config), INVALID_ARGUMENT, "no magic");
    cudaSetDevice(0);
}

/* ---- abort against destroy ---- */

static void *abort_it(void *comm)
{
    ncclCommAbort(comm);
    return NULL;
}

/* One of the two wins, the other one is told 4; nothing leaks and nothing is used after it was freed. */
static void check_races(void)
{
    for (int i = 0; i < RACES; i++) {
        void *comm;
        pthread_t other;
        expect(ncclCommInitAll(&comm, 1, NULL), OK, "open");
        pthread_create(&other, NULL, abort_it, comm);
        ncclCommDestroy(comm);
        pthread_join(other, NULL);
    }
    expect(standInLive("comm"), 0, "communicators after the races");
    standInReset();
}

/* ---- two calls at a time ---- */

static void *ask_size(void *comm)
{
    int size = 0;
    ncclCommCount(comm, &size);
    return NULL;
}

static void check_entries(void)
{
    void *comm;
    pthread_t other;
    expect(ncclCommInitAll(&comm, 1, NULL), OK, "open");
    ask_size(comm);
    expect(standInMaxEntries(), 1, "one at a time");
    standInCallDwell(50000);
    pthread_create(&other, NULL, ask_size, comm);
    ask_size(comm);
    pthread_join(other, NULL);
    expect(standInMaxEntries(), 2, "two at a time");
    standInReset();
    expect(ncclCommDestroy(comm), OK, "destroy");
}

void check_failures(void)
{
    on_threads(2, stuck_until_aborted);
    on_threads(2, different_counts);
    standInMismatchTruncates(1);
    on_threads(2, cut_short);
    on_threads(2, cut_later);
    standInReset();
    on_threads(2, wrong_arguments);
    on_threads(2, error_in_group);
    standInHang(1);
    on_threads(2, hanging);
    standInReset();
    check_leaving();
    check_openings();
    check_all_in_one_thread();
    check_not_blocking();
    check_races();
    check_entries();
    until(nothing_is_live, NULL, "nothing is live");
    standInReset();
}
