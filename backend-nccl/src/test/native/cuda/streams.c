/*
 * Streams: queues of operations that run one after the other on a thread of their own.
 *
 * A stream has a thread only while it has work, and a moment longer. The default stream of a device keeps the order
 * that CUDA promises with every blocking stream of that device; non-blocking streams are on their own.
 */
#include "streams.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

typedef struct Task {
    void (*run)(void *argument);
    void *argument;
    int held; /* until the test lets go */
    int latency_micros; /* before it runs */
    struct Task *next;
} Task;

struct Stream {
    Object object;
    int device;
    int blocking;
    int closed; /* no handle any more: the thread need not linger */
    int running;
    uint64_t enqueued; /* operations so far; the n-th one has ticket n */
    uint64_t completed;
    Task *first;
    Task *last;
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

enum { NON_BLOCKING = 1, LINGER_MILLIS = 50, HOLD = 1, HOLD_LOOK_MICROS = 500 };
static void *const LEGACY = (void *) 1;

static pthread_mutex_t defaults_lock = PTHREAD_MUTEX_INITIALIZER;
static Stream *defaults[MAX_DEVICES];

/* ---- making and finding ---- */

static void dispose(Object *object)
{
    Stream *stream = (Stream *) object;
    pthread_mutex_destroy(&stream->lock);
    pthread_cond_destroy(&stream->changed);
    free(stream);
}

static Stream *make_stream(int device, int blocking)
{
    Stream *stream = core_allocate(sizeof *stream);
    stream->device = device;
    stream->blocking = blocking;
    pthread_mutex_init(&stream->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&stream->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return stream;
}

/* Default streams have no handle in the table: they are not counted as live and never closed. */
static Stream *default_stream(int device)
{
    pthread_mutex_lock(&defaults_lock);
    if (defaults[device] == NULL) {
        Stream *stream = make_stream(device, 1);
        stream->object.dispose = dispose;
        atomic_store(&stream->object.references, 1);
        defaults[device] = stream;
    }
    Stream *stream = defaults[device];
    core_retain(&stream->object);
    pthread_mutex_unlock(&defaults_lock);
    return stream;
}

Stream *stream_acquire(void *handle, int device)
{
    if (handle == NULL || handle == LEGACY) {
        return default_stream(device);
    }
    return (Stream *) core_acquire(OBJECT_STREAM, handle);
}

void stream_release(Stream *stream)
{
    core_release(&stream->object);
}

int stream_device(const Stream *stream)
{
    return stream->device;
}

/* ---- the thread ---- */

/* Waits for the next task; NULL when the stream has been idle for long enough. The lock is held. */
static Task *next_task(Stream *stream)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += LINGER_MILLIS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    int waited = 0;
    while (stream->first == NULL && !stream->closed && waited != ETIMEDOUT) {
        waited = pthread_cond_timedwait(&stream->changed, &stream->lock, &until);
    }
    Task *task = stream->first;
    if (task != NULL) {
        stream->first = task->next;
    }
    return task;
}

static void run_task(Task *task)
{
    while (task->held && atomic_load(&settings.hold)) {
        core_sleep_micros(HOLD_LOOK_MICROS);
    }
    core_sleep_micros(task->latency_micros);
    task->run(task->argument);
    free(task);
}

static void *work(void *argument)
{
    Stream *stream = argument;
    pthread_mutex_lock(&stream->lock);
    for (Task *task = next_task(stream); task != NULL; task = next_task(stream)) {
        pthread_mutex_unlock(&stream->lock);
        run_task(task);
        pthread_mutex_lock(&stream->lock);
        stream->completed++;
        pthread_cond_broadcast(&stream->changed);
    }
    stream->running = 0;
    pthread_mutex_unlock(&stream->lock);
    stream_release(stream);
    core_thread_ends();
    return NULL;
}

static void append(Stream *stream, void (*run)(void *), void *argument)
{
    Task *task = core_allocate(sizeof *task);
    task->run = run;
    task->argument = argument;
    task->latency_micros = atomic_load(&settings.latency_micros[stream->device]);
    task->held = atomic_load(&settings.hold) == HOLD;
    pthread_mutex_lock(&stream->lock);
    if (stream->first == NULL) {
        stream->first = task;
    } else {
        stream->last->next = task;
    }
    stream->last = task;
    stream->enqueued++;
    int start = !stream->running;
    if (start) {
        stream->running = 1;
        core_retain(&stream->object);
    }
    pthread_cond_broadcast(&stream->changed);
    pthread_mutex_unlock(&stream->lock);
    if (start) {
        core_start_thread(work, stream);
    }
}

/* ---- order between streams ---- */

typedef struct {
    Stream *stream;
    uint64_t ticket;
} Milestone;

static void wait_until(Stream *stream, uint64_t ticket)
{
    pthread_mutex_lock(&stream->lock);
    while (stream->completed < ticket) {
        pthread_cond_wait(&stream->changed, &stream->lock);
    }
    pthread_mutex_unlock(&stream->lock);
}

static void run_milestone(void *argument)
{
    Milestone *milestone = argument;
    wait_until(milestone->stream, milestone->ticket);
    stream_release(milestone->stream);
    free(milestone);
}

/* What comes on `later` from now on waits for what is on `earlier` now. */
static void follow(Stream *later, Stream *earlier)
{
    pthread_mutex_lock(&earlier->lock);
    uint64_t ticket = earlier->enqueued;
    int idle = earlier->completed == ticket;
    pthread_mutex_unlock(&earlier->lock);
    if (idle) {
        return;
    }
    Milestone *milestone = core_allocate(sizeof *milestone);
    core_retain(&earlier->object);
    milestone->stream = earlier;
    milestone->ticket = ticket;
    append(later, run_milestone, milestone);
}

static void follow_if_blocking(Object *object, void *context)
{
    Stream *stream = (Stream *) object;
    Stream *later = context;
    if (stream->blocking && stream->device == later->device) {
        follow(later, stream);
    }
}

void stream_enqueue(Stream *stream, void (*run)(void *), void *argument)
{
    Stream *device_default = default_stream(stream->device);
    if (stream == device_default) {
        core_each(OBJECT_STREAM, follow_if_blocking, stream);
    } else if (stream->blocking) {
        follow(stream, device_default);
    }
    stream_release(device_default);
    append(stream, run, argument);
}

void stream_drain(Stream *stream)
{
    pthread_mutex_lock(&stream->lock);
    uint64_t ticket = stream->enqueued;
    pthread_mutex_unlock(&stream->lock);
    wait_until(stream, ticket);
}

int stream_busy(Stream *stream)
{
    pthread_mutex_lock(&stream->lock);
    int busy = stream->completed < stream->enqueued;
    pthread_mutex_unlock(&stream->lock);
    return busy;
}

/* ---- for stream_calls.c ---- */

void *stream_open(int device, unsigned flags)
{
    Stream *stream = make_stream(device, (flags & NON_BLOCKING) == 0);
    core_publish(&stream->object, OBJECT_STREAM, dispose);
    return stream->object.handle;
}

int stream_close(void *handle)
{
    Stream *stream = (Stream *) core_withdraw(OBJECT_STREAM, handle);
    if (stream == NULL) {
        return CUDA_INVALID_HANDLE;
    }
    pthread_mutex_lock(&stream->lock);
    stream->closed = 1;
    pthread_cond_broadcast(&stream->changed);
    pthread_mutex_unlock(&stream->lock);
    stream_release(stream);
    return CUDA_OK;
}

static void collect(Object *object, void *context)
{
    Stream *stream = (Stream *) object;
    StreamList *list = context;
    if (stream->device == list->device && list->count < MAX_COLLECTED) {
        core_retain(object);
        list->streams[list->count++] = stream;
    }
}

void streams_of(int device, StreamList *list)
{
    list->device = device;
    list->count = 0;
    core_each(OBJECT_STREAM, collect, list);
    list->streams[list->count++] = default_stream(device);
}
