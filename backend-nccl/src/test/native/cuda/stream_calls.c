/* The runtime's functions on streams. */
#include "streams.h"

#include <stdlib.h>

/* The stream of a handle, for a function of the runtime: counts a handle that is not valid. */
static Stream *find(const char *function, void *handle)
{
    Stream *stream = stream_acquire(handle, device_current());
    if (stream == NULL) {
        core_misuse(function, handle);
    }
    return stream;
}

EXPORT int RUNTIME(StreamCreateWithFlags)(void **handle, unsigned flags)
{
    int error = CUDA_BEGIN(RUNTIME_NAME("StreamCreateWithFlags"), "%p,%u", (void *) handle, flags);
    if (error == CUDA_OK && (handle == NULL || flags > 1)) {
        error = CUDA_INVALID_VALUE;
    }
    if (error == CUDA_OK) {
        *handle = stream_open(device_current(), flags);
    }
    return cuda_end(error);
}

EXPORT int RUNTIME(StreamCreate)(void **handle)
{
    int error = CUDA_BEGIN(RUNTIME_NAME("StreamCreate"), "%p", (void *) handle);
    if (error == CUDA_OK && handle == NULL) {
        error = CUDA_INVALID_VALUE;
    }
    if (error == CUDA_OK) {
        *handle = stream_open(device_current(), 0);
    }
    return cuda_end(error);
}

EXPORT int RUNTIME(StreamDestroy)(void *handle)
{
    int error = CUDA_BEGIN(RUNTIME_NAME("StreamDestroy"), "%p", handle);
    if (error == CUDA_OK) {
        error = stream_close(handle);
        if (error != CUDA_OK) {
            core_misuse(RUNTIME_NAME("StreamDestroy"), handle);
        }
    }
    return cuda_end(error);
}

EXPORT int RUNTIME(StreamSynchronize)(void *handle)
{
    int error = CUDA_BEGIN(RUNTIME_NAME("StreamSynchronize"), "%p", handle);
    if (error != CUDA_OK) {
        return cuda_end(error);
    }
    Stream *stream = find(RUNTIME_NAME("StreamSynchronize"), handle);
    if (stream == NULL) {
        return cuda_end(CUDA_INVALID_HANDLE);
    }
    stream_drain(stream);
    stream_release(stream);
    return cuda_end(device_state());
}

EXPORT int RUNTIME(StreamQuery)(void *handle)
{
    int error = CUDA_BEGIN(RUNTIME_NAME("StreamQuery"), "%p", handle);
    if (error != CUDA_OK) {
        return cuda_end(error);
    }
    Stream *stream = find(RUNTIME_NAME("StreamQuery"), handle);
    if (stream == NULL) {
        return cuda_end(CUDA_INVALID_HANDLE);
    }
    int busy = stream_busy(stream);
    stream_release(stream);
    return cuda_end(busy ? CUDA_NOT_READY : CUDA_OK);
}

EXPORT int RUNTIME(DeviceSynchronize)(void)
{
    int error = CUDA_BEGIN(RUNTIME_NAME("DeviceSynchronize"), "%s", "");
    if (error != CUDA_OK) {
        return cuda_end(error);
    }
    StreamList *list = core_allocate(sizeof *list);
    streams_of(device_current(), list);
    for (int i = 0; i < list->count; i++) {
        stream_drain(list->streams[i]);
        stream_release(list->streams[i]);
    }
    free(list);
    return cuda_end(device_state());
}
