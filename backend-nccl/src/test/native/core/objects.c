/* The table of handles: who is alive, who may still be used. */
#include "core.h"

#include <pthread.h>

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static Object *table[OBJECT_KINDS];
static uintptr_t given_out;

/* Streams start at 0x10000000010, events at 0x20..., communicators at 0x30...: easy to tell apart in a log. */
static void *next_handle(ObjectKind kind)
{
    given_out++;
    return (void *) (((uintptr_t) kind + 1) << 40 | given_out << 4);
}

void core_publish(Object *object, ObjectKind kind, void (*dispose)(Object *))
{
    object->kind = kind;
    object->dispose = dispose;
    atomic_store(&object->references, 1);
    pthread_mutex_lock(&table_lock);
    object->handle = next_handle(kind);
    object->next = table[kind];
    table[kind] = object;
    pthread_mutex_unlock(&table_lock);
}

/* The place that points at the object of this handle; points at NULL if there is none. */
static Object **place_of(ObjectKind kind, const void *handle)
{
    Object **place = &table[kind];
    while (*place != NULL && (*place)->handle != handle) {
        place = &(*place)->next;
    }
    return place;
}

Object *core_acquire(ObjectKind kind, const void *handle)
{
    pthread_mutex_lock(&table_lock);
    Object *object = *place_of(kind, handle);
    if (object != NULL) {
        core_retain(object);
    }
    pthread_mutex_unlock(&table_lock);
    return object;
}

Object *core_withdraw(ObjectKind kind, const void *handle)
{
    pthread_mutex_lock(&table_lock);
    Object **place = place_of(kind, handle);
    Object *object = *place;
    if (object != NULL) {
        *place = object->next;
    }
    pthread_mutex_unlock(&table_lock);
    return object;
}

void core_retain(Object *object)
{
    atomic_fetch_add(&object->references, 1);
}

void core_release(Object *object)
{
    if (atomic_fetch_sub(&object->references, 1) == 1) {
        object->dispose(object);
    }
}

void core_each(ObjectKind kind, void (*visit)(Object *, void *), void *context)
{
    pthread_mutex_lock(&table_lock);
    for (Object *object = table[kind]; object != NULL; object = object->next) {
        visit(object, context);
    }
    pthread_mutex_unlock(&table_lock);
}

static void count_one(Object *object, void *context)
{
    (void) object;
    int *count = context;
    (*count)++;
}

int core_live(ObjectKind kind)
{
    int count = 0;
    core_each(kind, count_one, &count);
    return count;
}
