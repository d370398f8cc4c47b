/* Inside of the runtime: devices, memory, streams. libnccl uses the exported part, as NCCL uses the CUDA driver. */
#ifndef CUDA_H
#define CUDA_H

#include "../core/core.h"

/* The runtime exists under two names. This is the only place that knows which one is being built. */
#ifdef STANDIN_HIP
#define RUNTIME(name) hip##name
#define RUNTIME_NAME(name) "hip" name
#define RUNTIME_PINNED_ALLOCATE hipHostMalloc
#define RUNTIME_PINNED_FREE hipHostFree
#define RUNTIME_PINNED_ALLOCATE_NAME "hipHostMalloc"
#define RUNTIME_PINNED_FREE_NAME "hipHostFree"
#else
#define RUNTIME(name) cuda##name
#define RUNTIME_NAME(name) "cuda" name
#define RUNTIME_PINNED_ALLOCATE cudaHostAlloc
#define RUNTIME_PINNED_FREE cudaFreeHost
#define RUNTIME_PINNED_ALLOCATE_NAME "cudaHostAlloc"
#define RUNTIME_PINNED_FREE_NAME "cudaFreeHost"
#endif

enum {
    CUDA_OK = 0,
    CUDA_INVALID_VALUE = 1,
    CUDA_OUT_OF_MEMORY = 2,
    CUDA_COPY_DIRECTION = 21,
    CUDA_NO_DRIVER = 35,
    CUDA_NO_DEVICE = 100,
    CUDA_INVALID_DEVICE = 101,
    CUDA_INVALID_HANDLE = 400,
    CUDA_NOT_READY = 600,
    CUDA_ALREADY_REGISTERED = 712,
    CUDA_NOT_REGISTERED = 713,
    CUDA_NOT_SUPPORTED = 801
};

/* ---- device.c ---- */

/* The calling thread's device. */
EXPORT int device_current(void);
EXPORT int device_count(void);
/* Why no call can work now: 35 no driver, 100 no device, the sticky error; 0 if calls can work. */
EXPORT int device_state(void);
/* Remembers the calling thread's last error and passes it on. */
int cuda_end(int error);
/* First line of every function of the runtime: log, planned failure, state of the machine. */
#define CUDA_BEGIN(function, ...) cuda_first_of(core_call(function, __VA_ARGS__))
int cuda_first_of(int planned);

/* ---- memory.c ---- */

typedef enum { MEMORY_DEVICE, MEMORY_PINNED } MemoryKind;

typedef struct Block Block;

/*
 * Where the contents of [address, address + bytes) really are, or NULL if that is not inside one block. The block is
 * held, so that a free cannot take it away, until memory_release.
 */
EXPORT char *memory_hold(const void *address, size_t bytes, Block **block);
EXPORT void memory_release(Block *block);
EXPORT MemoryKind memory_kind(const Block *block);
EXPORT int memory_device(const Block *block);
int memory_live(MemoryKind kind);
void memory_reset_counters(void);

/* ---- streams.c ---- */

typedef struct Stream Stream;

/* The stream of a handle, retained; 0 and 1 mean the default stream of `device`. NULL if there is none. */
EXPORT Stream *stream_acquire(void *handle, int device);
EXPORT void stream_release(Stream *stream);
EXPORT int stream_device(const Stream *stream);
/* Runs `run(argument)` on the stream's thread, after everything that was put there before. */
EXPORT void stream_enqueue(Stream *stream, void (*run)(void *), void *argument);
/* Waits until everything that is on the stream now is done. */
void stream_drain(Stream *stream);

#endif
