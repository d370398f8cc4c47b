/*
 * Copies and fills. An asynchronous one reads its source when it runs, not when it is put on the stream, also from
 * plain host memory: a missing wait shows as wrong data.
 */
#include "cuda.h"

#include <stdlib.h>
#include <string.h>

enum { HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, BY_ADDRESS };

typedef struct {
    char *to;
    Block *to_block; /* NULL: plain host memory */
    const char *from;
    Block *from_block;
    size_t bytes;
    int fill;
} Copy;

static void run_copy(void *argument)
{
    Copy *copy = argument;
    if (copy->from == NULL) {
        memset(copy->to, copy->fill, copy->bytes);
    } else {
        memmove(copy->to, copy->from, copy->bytes);
    }
    memory_release(copy->to_block);
    memory_release(copy->from_block);
    free(copy);
}

static int on_device(const Block *block)
{
    return block != NULL && memory_kind(block) == MEMORY_DEVICE;
}

/* Does the direction fit where the memory really is? */
static int direction_fits(int direction, int from_device, int to_device)
{
    int expect_from = direction == DEVICE_TO_HOST || direction == DEVICE_TO_DEVICE;
    int expect_to = direction == HOST_TO_DEVICE || direction == DEVICE_TO_DEVICE;
    return direction == BY_ADDRESS || (expect_from == from_device && expect_to == to_device);
}

/* A range that begins inside device memory and ends outside of it belongs to no block. */
static int reaches_out(const void *address, const Block *block)
{
    Block *start = NULL;
    if (block != NULL) {
        return 0;
    }
    memory_hold(address, 1, &start);
    int outside = on_device(start);
    memory_release(start);
    return outside;
}

static void drop(Copy *copy)
{
    memory_release(copy->to_block);
    memory_release(copy->from_block);
    free(copy);
}

static int plan_copy(Copy *copy, void *to, const void *from, int direction)
{
    char *to_contents = memory_hold(to, copy->bytes, &copy->to_block);
    char *from_contents = memory_hold(from, copy->bytes, &copy->from_block);
    copy->to = to_contents != NULL ? to_contents : to;
    copy->from = from_contents != NULL ? from_contents : from;
    if (reaches_out(to, copy->to_block) || reaches_out(from, copy->from_block) || to == NULL || from == NULL) {
        return CUDA_INVALID_VALUE;
    }
    return direction_fits(direction, on_device(copy->from_block), on_device(copy->to_block)) ? CUDA_OK
                                                                                              : CUDA_INVALID_VALUE;
}

static int enqueue_copy(void *to, const void *from, size_t bytes, int direction, Stream *stream)
{
    if (direction < HOST_TO_HOST || direction > BY_ADDRESS) {
        return CUDA_COPY_DIRECTION;
    }
    if (bytes == 0) {
        return CUDA_OK;
    }
    Copy *copy = core_allocate(sizeof *copy);
    copy->bytes = bytes;
    int error = plan_copy(copy, to, from, direction);
    if (error != CUDA_OK) {
        drop(copy);
        return error;
    }
    stream_enqueue(stream, run_copy, copy);
    return CUDA_OK;
}

EXPORT int RUNTIME(MemcpyAsync)(void *to, const void *from, size_t bytes, int direction, void *handle)
{
    int error = CUDA_BEGIN(RUNTIME_NAME("MemcpyAsync"), "%p,%p,%zu,%d,%p", to, from, bytes, direction, handle);
    if (error != CUDA_OK) {
        return cuda_end(error);
    }
    Stream *stream = stream_acquire(handle, device_current());
    if (stream == NULL) {
        core_misuse(RUNTIME_NAME("MemcpyAsync"), handle);
        return cuda_end(CUDA_INVALID_HANDLE);
    }
    error = enqueue_copy(to, from, bytes, direction, stream);
    stream_release(stream);
    return cuda_end(error);
}

EXPORT int RUNTIME(Memcpy)(void *to, const void *from, size_t bytes, int direction)
{
    int error = CUDA_BEGIN(RUNTIME_NAME("Memcpy"), "%p,%p,%zu,%d", to, from, bytes, direction);
    if (error != CUDA_OK) {
        return cuda_end(error);
    }
    Stream *stream = stream_acquire(NULL, device_current());
    error = enqueue_copy(to, from, bytes, direction, stream);
    if (error == CUDA_OK) {
        stream_drain(stream);
        error = device_state();
    }
    stream_release(stream);
    return cuda_end(error);
}

static int enqueue_fill(void *to, int fill, size_t bytes, Stream *stream)
{
    Copy *copy = core_allocate(sizeof *copy);
    copy->bytes = bytes;
    copy->fill = fill;
    copy->to = memory_hold(to, bytes, &copy->to_block);
    if (!on_device(copy->to_block)) {
        drop(copy);
        return CUDA_INVALID_VALUE;
    }
    stream_enqueue(stream, run_copy, copy);
    return CUDA_OK;
}

EXPORT int RUNTIME(MemsetAsync)(void *to, int fill, size_t bytes, void *handle)
{
    int error = CUDA_BEGIN(RUNTIME_NAME("MemsetAsync"), "%p,%d,%zu,%p", to, fill, bytes, handle);
    if (error != CUDA_OK) {
        return cuda_end(error);
    }
    Stream *stream = stream_acquire(handle, device_current());
    if (stream == NULL) {
        core_misuse(RUNTIME_NAME("MemsetAsync"), handle);
        return cuda_end(CUDA_INVALID_HANDLE);
    }
    if (bytes > 0) {
        error = enqueue_fill(to, fill, bytes, stream);
    }
    stream_release(stream);
    return cuda_end(error);
}
