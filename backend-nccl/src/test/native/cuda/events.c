/* Events: marks in a stream that others wait for. */
#include "cuda.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

typedef struct {
    Object object;
    int device;
    int timed;
    uint64_t recorded; /* how often it was put on a stream */
    uint64_t reached;  /* the latest of these that was passed */
    double millis;     /* when */
    pthread_mutex_t lock;
    pthread_cond_t changed;
} Event;

enum { DISABLE_TIMING = 2, ALL_FLAGS = 7 };

/* One record or wait on its way through a stream. */
typedef struct {
    Event *event;
    uint64_t record;
} Mark;

static double now_millis(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec * 1e3 + (double) now.tv_nsec / 1e6;
}

static void dispose(Object *object)
{
    Event *event = (Event *) object;
    pthread_mutex_destroy(&event->lock);
    pthread_cond_destroy(&event->changed);
    free(event);
}

static Event *find(const char *function, void *handle)
{
    Event *event = (Event *) core_acquire(OBJECT_EVENT, handle);
    if (event == NULL) {
        core_misuse(function, handle);
    }
    return event;
}

static void *open_event(unsigned flags)
{
    Event *event = core_allocate(sizeof *event);
    event->device = device_current();
    event->timed = (flags & DISABLE_TIMING) == 0;
    pthread_mutex_init(&event->lock, NULL);
    pthread_cond_init(&event->changed, NULL);
    core_publish(&event->object, OBJECT_EVENT, dispose);
    return event->object.handle;
}

/* ---- on the stream's thread ---- */

static void reach(void *argument)
{
    Mark *mark = argument;
    Event *event = mark->event;
    pthread_mutex_lock(&event->lock);
    if (event->reached < mark->record) {
        event->reached = mark->record;
        event->millis = now_millis();
    }
    pthread_cond_broadcast(&event->changed);
    pthread_mutex_unlock(&event->lock);
    core_release(&event->object);
    free(mark);
}

static void wait_for(Event *event, uint64_t record)
{
    pthread_mutex_lock(&event->lock);
    while (event->reached < record) {
        pthread_cond_wait(&event->changed, &event->lock);
    }
    pthread_mutex_unlock(&event->lock);
}

static void wait_for_mark(void *argument)
{
    Mark *mark = argument;
    wait_for(mark->event, mark->record);
    core_release(&mark->event->object);
    free(mark);
}

/* ---- the runtime's functions ---- */

EXPORT int RUNTIME(EventCreateWithFlags)(void **handle, unsigned flags)
{
    int error = CUDA_BEGIN(RUNTIME_NAME("EventCreateWithFlags"), "%p,%u", (void *) handle, flags);
    if (error == CUDA_OK && (handle == NULL || (flags & ~(unsigned) ALL_FLAGS) != 0)) {
        error = CUDA_INVALID_VALUE;
    }
    if (error == CUDA_OK) {
        *handle = open_event(flags);
    }
    return cuda_end(error);
}

EXPORT int RUNTIME(EventDestroy)(void *handle)
{
    int error = CUDA_BEGIN(RUNTIME_NAME("EventDestroy"), "%p", handle);
    if (error != CUDA_OK) {
        return cuda_end(error);
    }
    Object *event = core_withdraw(OBJECT_EVENT, handle);
    if (event == NULL) {
        core_misuse(RUNTIME_NAME("EventDestroy"), handle);
        return cuda_end(CUDA_INVALID_HANDLE);
    }
    core_release(event);
    return CUDA_OK;
}

/* Puts a mark on the stream; takes over one reference of the event. */
static void put_mark(Stream *stream, Event *event, int is_record)
{
    Mark *mark = core_allocate(sizeof *mark);
    mark->event = event;
    pthread_mutex_lock(&event->lock);
    if (is_record) {
        event->recorded++;
    }
    mark->record = event->recorded;
    pthread_mutex_unlock(&event->lock);
    stream_enqueue(stream, is_record ? reach : wait_for_mark, mark);
}

static int mark_stream(const char *function, void *stream_handle, void *event_handle, int is_record)
{
    Event *event = find(function, event_handle);
    Stream *stream = stream_acquire(stream_handle, device_current());
    if (stream == NULL) {
        core_misuse(function, stream_handle);
    }
    int valid = event != NULL && stream != NULL && (!is_record || event->device == stream_device(stream));
    if (valid) {
        core_retain(&event->object);
        put_mark(stream, event, is_record);
    }
    if (event != NULL) {
        core_release(&event->object);
    }
    if (stream != NULL) {
        stream_release(stream);
    }
    return valid ? CUDA_OK : CUDA_INVALID_HANDLE;
}

EXPORT int RUNTIME(EventRecord)(void *event, void *stream)
{
    int error = CUDA_BEGIN(RUNTIME_NAME("EventRecord"), "%p,%p", event, stream);
    return cuda_end(error != CUDA_OK ? error : mark_stream(RUNTIME_NAME("EventRecord"), stream, event, 1));
}

EXPORT int RUNTIME(StreamWaitEvent)(void *stream, void *event, unsigned flags)
{
    int error = CUDA_BEGIN(RUNTIME_NAME("StreamWaitEvent"), "%p,%p,%u", stream, event, flags);
    return cuda_end(error != CUDA_OK ? error : mark_stream(RUNTIME_NAME("StreamWaitEvent"), stream, event, 0));
}

static int passed(Event *event)
{
    pthread_mutex_lock(&event->lock);
    int answer = event->reached >= event->recorded;
    pthread_mutex_unlock(&event->lock);
    return answer;
}

EXPORT int RUNTIME(EventQuery)(void *handle)
{
    int error = CUDA_BEGIN(RUNTIME_NAME("EventQuery"), "%p", handle);
    if (error != CUDA_OK) {
        return cuda_end(error);
    }
    Event *event = find(RUNTIME_NAME("EventQuery"), handle);
    if (event == NULL) {
        return cuda_end(CUDA_INVALID_HANDLE);
    }
    error = passed(event) ? CUDA_OK : CUDA_NOT_READY;
    core_release(&event->object);
    return cuda_end(error);
}

EXPORT int RUNTIME(EventSynchronize)(void *handle)
{
    int error = CUDA_BEGIN(RUNTIME_NAME("EventSynchronize"), "%p", handle);
    if (error != CUDA_OK) {
        return cuda_end(error);
    }
    Event *event = find(RUNTIME_NAME("EventSynchronize"), handle);
    if (event == NULL) {
        return cuda_end(CUDA_INVALID_HANDLE);
    }
    pthread_mutex_lock(&event->lock);
    uint64_t record = event->recorded;
    pthread_mutex_unlock(&event->lock);
    wait_for(event, record);
    core_release(&event->object);
    return cuda_end(device_state());
}

static int elapsed(float *millis, Event *start, Event *end)
{
    if (start == NULL || end == NULL || !start->timed || !end->timed || start->recorded == 0 || end->recorded == 0) {
        return CUDA_INVALID_HANDLE;
    }
    if (!passed(start) || !passed(end)) {
        return CUDA_NOT_READY;
    }
    *millis = (float) (end->millis - start->millis);
    return CUDA_OK;
}

EXPORT int RUNTIME(EventElapsedTime)(float *millis, void *start_handle, void *end_handle)
{
    int error = CUDA_BEGIN(RUNTIME_NAME("EventElapsedTime"), "%p,%p,%p", (void *) millis, start_handle, end_handle);
    if (error != CUDA_OK) {
        return cuda_end(error);
    }
    Event *start = find(RUNTIME_NAME("EventElapsedTime"), start_handle);
    Event *end = find(RUNTIME_NAME("EventElapsedTime"), end_handle);
    error = elapsed(millis, start, end);
    if (start != NULL) {
        core_release(&start->object);
    }
    if (end != NULL) {
        core_release(&end->object);
    }
    return cuda_end(error);
}
