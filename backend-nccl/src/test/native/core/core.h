/*
 * What both stand-in libraries share: handles that are never reused, the call log, planned failures and counters.
 * It lives in libcudart; libnccl uses it from there.
 */
#ifndef CORE_H
#define CORE_H

#include "../standin.h"

#include <stdatomic.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))
#define LIKE_PRINTF(format_at, values_at) __attribute__((format(printf, format_at, values_at)))

enum { MAX_DEVICES = 16 };

/* ---- objects.c ---- */

typedef enum { OBJECT_STREAM, OBJECT_EVENT, OBJECT_COMM, OBJECT_KINDS } ObjectKind;

/*
 * First member of everything that a caller knows by a handle. A handle is a number, not an address, and is given out
 * once: a stale one is always recognised. The object lives until its handle is withdrawn and its last user released it.
 */
typedef struct Object {
    void *handle;
    ObjectKind kind;
    atomic_int references;
    void (*dispose)(struct Object *object);
    struct Object *next;
} Object;

/* Gives the object a handle. The table holds one reference until the handle is withdrawn. */
EXPORT void core_publish(Object *object, ObjectKind kind, void (*dispose)(Object *));
/* The object of a handle, retained, or NULL. */
EXPORT Object *core_acquire(ObjectKind kind, const void *handle);
/* Makes the handle invalid and passes the table's reference to the caller; NULL if it already was invalid. */
EXPORT Object *core_withdraw(ObjectKind kind, const void *handle);
EXPORT void core_retain(Object *object);
EXPORT void core_release(Object *object);
/* Calls `visit` for every object of the kind; the table is locked meanwhile. */
EXPORT void core_each(ObjectKind kind, void (*visit)(Object *, void *context), void *context);
int core_live(ObjectKind kind);

/* ---- calls.c ---- */

/* Writes the call down and answers the code planned for it, 0 if none. */
EXPORT int core_call(const char *function, const char *format, ...) LIKE_PRINTF(2, 3);
/* Counts a use of an invalid handle and writes it down. */
EXPORT void core_misuse(const char *function, const void *handle);

/* ---- threads.c ---- */

/* Starts a detached thread that is counted until it ends; the process ends if the system has none left. */
EXPORT void core_start_thread(void *(*body)(void *), void *argument);
/* The last thing that such a thread does. */
EXPORT void core_thread_ends(void);
EXPORT void core_sleep_micros(int micros);
/* Memory that is zero; the process ends if the system has none left. */
EXPORT void *core_allocate(size_t bytes);

/* ---- settings.c ---- */

typedef struct {
    atomic_int devices;
    atomic_size_t memory;
    atomic_int latency_micros[MAX_DEVICES];
    atomic_int hold;
    atomic_int refuse_pinning;
    atomic_int sticky_error;
} Settings;

extern Settings settings;
EXPORT long core_variable(const char *name, long otherwise);
/* `reset` is called by standInReset as well. */
EXPORT void core_on_reset(void (*reset)(void));

void calls_reset(void);

#endif
