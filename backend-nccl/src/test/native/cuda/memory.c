/*
 * Device and pinned memory.
 *
 * A device address points into a range that nobody may read or write: host code that follows one dies, as on a GPU. The
 * contents live elsewhere. Device addresses are never given out twice, and fresh memory is filled with a pattern, so
 * that reading what was never written shows.
 */
#define _GNU_SOURCE
#include "cuda.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct Block {
    MemoryKind kind;
    int device;
    char *address;
    char *contents;
    size_t bytes;
    int users; /* operations that will still touch the contents */
    int freed;
    int borrowed; /* the caller's own memory, registered */
    Block *next;
};

enum { FRESH = 0xCB, ALIGNMENT = 512, GAP = 4096 };
static const size_t RANGE_BYTES = (size_t) 1 << 36;

static pthread_mutex_t memory_lock = PTHREAD_MUTEX_INITIALIZER;
static Block *blocks;
static size_t used[MAX_DEVICES];
static char *range;
static size_t range_used;
static atomic_int freed_in_use;

static size_t round_up(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

/* ---- finding ---- */

/* The block that holds all of [address, address + bytes), or NULL. memory_lock is held. */
static Block *find(const void *address, size_t bytes)
{
    uintptr_t start = (uintptr_t) address;
    for (Block *block = blocks; block != NULL; block = block->next) {
        uintptr_t first = (uintptr_t) block->address;
        if (start >= first && start - first <= block->bytes && bytes <= block->bytes - (start - first)) {
            return block;
        }
    }
    return NULL;
}

char *memory_hold(const void *address, size_t bytes, Block **found)
{
    pthread_mutex_lock(&memory_lock);
    Block *block = find(address, bytes);
    if (block != NULL) {
        block->users++;
    }
    pthread_mutex_unlock(&memory_lock);
    *found = block;
    return block == NULL ? NULL : block->contents + ((const char *) address - block->address);
}

/* memory_lock is held. */
static void dispose(Block *block)
{
    if (!block->borrowed) {
        free(block->contents);
    }
    free(block);
}

void memory_release(Block *block)
{
    if (block == NULL) {
        return;
    }
    pthread_mutex_lock(&memory_lock);
    block->users--;
    if (block->users == 0 && block->freed) {
        dispose(block);
    }
    pthread_mutex_unlock(&memory_lock);
}

MemoryKind memory_kind(const Block *block)
{
    return block->kind;
}

int memory_device(const Block *block)
{
    return block->device;
}

int memory_live(MemoryKind kind)
{
    int count = 0;
    pthread_mutex_lock(&memory_lock);
    for (Block *block = blocks; block != NULL; block = block->next) {
        count += block->kind == kind;
    }
    pthread_mutex_unlock(&memory_lock);
    return count;
}

void memory_reset_counters(void)
{
    atomic_store(&freed_in_use, 0);
}

EXPORT int standInFreedInUse(void)
{
    return atomic_load(&freed_in_use);
}

/* ---- making and freeing ---- */

/* Addresses that may not be touched, or NULL. A range that is used up stays as it is. memory_lock is held. */
static char *take_addresses(size_t bytes)
{
    size_t taken = round_up(bytes, ALIGNMENT) + GAP;
    if (taken > RANGE_BYTES) {
        return NULL;
    }
    if (range == NULL || taken > RANGE_BYTES - range_used) {
        void *start = mmap(NULL, RANGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (start == MAP_FAILED) {
            return NULL;
        }
        range = start;
        range_used = 0;
    }
    char *address = range + range_used;
    range_used += taken;
    return address;
}

/* memory_lock is held. */
static Block *add_block(MemoryKind kind, int device, char *address, char *contents, size_t bytes)
{
    Block *block = core_allocate(sizeof *block);
    block->kind = kind;
    block->device = device;
    block->address = address;
    block->contents = contents;
    block->bytes = bytes;
    block->next = blocks;
    blocks = block;
    return block;
}

static char *fresh_contents(size_t bytes)
{
    char *contents = aligned_alloc(ALIGNMENT, round_up(bytes, ALIGNMENT));
    if (contents != NULL) {
        memset(contents, FRESH, bytes);
    }
    return contents;
}

/* memory_lock is held. */
static int make_device_block(int device, size_t bytes, void **address)
{
    size_t limit = atomic_load(&settings.memory);
    size_t rounded = round_up(bytes, ALIGNMENT);
    if (bytes > limit || used[device] > limit || rounded > limit - used[device]) {
        return CUDA_OUT_OF_MEMORY;
    }
    char *contents = fresh_contents(bytes);
    char *addresses = contents == NULL ? NULL : take_addresses(bytes);
    if (addresses == NULL) {
        free(contents);
        return CUDA_OUT_OF_MEMORY;
    }
    used[device] += rounded;
    *address = add_block(MEMORY_DEVICE, device, addresses, contents, bytes)->address;
    return CUDA_OK;
}

/* Takes the block that starts at the address out of the list, or answers NULL. memory_lock is held. */
static Block *take_block(const void *address, MemoryKind kind, int borrowed)
{
    for (Block **place = &blocks; *place != NULL; place = &(*place)->next) {
        Block *block = *place;
        if (block->address == address && block->kind == kind && block->borrowed == borrowed) {
            *place = block->next;
            return block;
        }
    }
    return NULL;
}

static int free_block(const void *address, MemoryKind kind, int borrowed)
{
    pthread_mutex_lock(&memory_lock);
    Block *block = take_block(address, kind, borrowed);
    if (block != NULL) {
        if (kind == MEMORY_DEVICE) {
            used[block->device] -= round_up(block->bytes, ALIGNMENT);
        }
        block->freed = 1;
        if (block->users > 0) {
            atomic_fetch_add(&freed_in_use, 1);
        } else {
            dispose(block);
        }
    }
    pthread_mutex_unlock(&memory_lock);
    return block != NULL ? CUDA_OK : borrowed ? CUDA_NOT_REGISTERED : CUDA_INVALID_VALUE;
}

/* ---- the runtime's functions ---- */

static int allocate_device(void **address, size_t bytes)
{
    if (address == NULL) {
        return CUDA_INVALID_VALUE;
    }
    if (bytes == 0) {
        *address = NULL;
        return CUDA_OK;
    }
    pthread_mutex_lock(&memory_lock);
    int error = make_device_block(device_current(), bytes, address);
    pthread_mutex_unlock(&memory_lock);
    return error;
}

EXPORT int RUNTIME(Malloc)(void **address, size_t bytes)
{
    int error = CUDA_BEGIN(RUNTIME_NAME("Malloc"), "%p,%zu", (void *) address, bytes);
    return cuda_end(error != CUDA_OK ? error : allocate_device(address, bytes));
}

EXPORT int RUNTIME(Free)(void *address)
{
    int error = CUDA_BEGIN(RUNTIME_NAME("Free"), "%p", address);
    if (error == CUDA_OK && address != NULL) {
        error = free_block(address, MEMORY_DEVICE, 0);
    }
    return cuda_end(error);
}

EXPORT int RUNTIME(MemGetInfo)(size_t *available, size_t *total)
{
    int error = CUDA_BEGIN(RUNTIME_NAME("MemGetInfo"), "%p,%p", (void *) available, (void *) total);
    if (error == CUDA_OK) {
        pthread_mutex_lock(&memory_lock);
        *total = atomic_load(&settings.memory);
        *available = *total - used[device_current()];
        pthread_mutex_unlock(&memory_lock);
    }
    return cuda_end(error);
}

static int allocate_pinned(void **address, size_t bytes)
{
    if (atomic_load(&settings.refuse_pinning)) {
        return CUDA_OUT_OF_MEMORY;
    }
    if (address == NULL || bytes == 0) {
        return CUDA_INVALID_VALUE;
    }
    char *contents = fresh_contents(bytes);
    if (contents == NULL) {
        return CUDA_OUT_OF_MEMORY;
    }
    pthread_mutex_lock(&memory_lock);
    add_block(MEMORY_PINNED, device_current(), contents, contents, bytes);
    pthread_mutex_unlock(&memory_lock);
    *address = contents;
    return CUDA_OK;
}

EXPORT int RUNTIME_PINNED_ALLOCATE(void **address, size_t bytes, unsigned flags)
{
    int error = CUDA_BEGIN(RUNTIME_PINNED_ALLOCATE_NAME, "%p,%zu,%u", (void *) address, bytes, flags);
    return cuda_end(error != CUDA_OK ? error : allocate_pinned(address, bytes));
}

EXPORT int RUNTIME_PINNED_FREE(void *address)
{
    int error = CUDA_BEGIN(RUNTIME_PINNED_FREE_NAME, "%p", address);
    if (error == CUDA_OK && address != NULL) {
        error = free_block(address, MEMORY_PINNED, 0);
    }
    return cuda_end(error);
}

static int register_host(char *address, size_t bytes)
{
    if (atomic_load(&settings.refuse_pinning)) {
        return CUDA_NOT_SUPPORTED;
    }
    if (address == NULL || bytes == 0) {
        return CUDA_INVALID_VALUE;
    }
    pthread_mutex_lock(&memory_lock);
    int taken = find(address, 1) != NULL || find(address + bytes - 1, 1) != NULL;
    if (!taken) {
        add_block(MEMORY_PINNED, device_current(), address, address, bytes)->borrowed = 1;
    }
    pthread_mutex_unlock(&memory_lock);
    return taken ? CUDA_ALREADY_REGISTERED : CUDA_OK;
}

EXPORT int RUNTIME(HostRegister)(void *address, size_t bytes, unsigned flags)
{
    int error = CUDA_BEGIN(RUNTIME_NAME("HostRegister"), "%p,%zu,%u", address, bytes, flags);
    return cuda_end(error != CUDA_OK ? error : register_host(address, bytes));
}

EXPORT int RUNTIME(HostUnregister)(void *address)
{
    int error = CUDA_BEGIN(RUNTIME_NAME("HostUnregister"), "%p", address);
    return cuda_end(error != CUDA_OK ? error : free_block(address, MEMORY_PINNED, 1));
}

/* The first 24 bytes, which all versions share. */
typedef struct {
    int type; /* 0 unregistered, 1 host, 2 device */
    int device;
    const void *device_address;
    const void *host_address;
} PointerAttributes;

EXPORT int RUNTIME(PointerGetAttributes)(PointerAttributes *attributes, const void *address)
{
    int error = CUDA_BEGIN(RUNTIME_NAME("PointerGetAttributes"), "%p,%p", (void *) attributes, address);
    if (error != CUDA_OK) {
        return cuda_end(error);
    }
    pthread_mutex_lock(&memory_lock);
    const Block *block = find(address, 1);
    PointerAttributes answer = {0, -2, NULL, address};
    if (block != NULL) {
        int on_device = block->kind == MEMORY_DEVICE;
        answer = (PointerAttributes){on_device ? 2 : 1, block->device, address, on_device ? NULL : address};
    }
    pthread_mutex_unlock(&memory_lock);
    *attributes = answer;
    return CUDA_OK;
}
