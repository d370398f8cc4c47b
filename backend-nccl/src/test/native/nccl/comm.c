/* Opening and closing of communicators, and calls on them. */
#include "comm.h"

#include "identity.h"
#include "link.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

enum { SERVING_SECONDS = 2, ENDING_SECONDS = 1 };

static atomic_int max_entries;

/* ---- what the world tells ---- */

static void notify(Member *member, Notice notice, int code)
{
    Comm *comm = (Comm *) ((char *) member - offsetof(Comm, member));
    if (notice == ALL_HERE) {
        comm->ready = 1;
    } else if (notice == REFUSED) {
        comm->refused = code;
    } else if (notice == FAILED && comm->failed == NCCL_OK) {
        comm->failed = code;
    } else if (notice == ONE_LEFT) {
        comm->departures++;
    }
    pthread_cond_broadcast(&comm->changed);
}

/* ---- opening ---- */

static int check_opening(const char *function, const Opening *opening)
{
    int code = nccl_check_devices();
    if (code != NCCL_OK) {
        return code;
    }
    if (opening->size < 1 || opening->rank < 0 || opening->rank >= opening->size) {
        return nccl_fail(NCCL_INVALID_ARGUMENT, "%s : invalid rank requested : %d/%d", function, opening->rank,
                         opening->size);
    }
    if (!identity_valid(&opening->id)) {
        return nccl_fail(NCCL_INVALID_ARGUMENT, "%s : this unique id did not come from ncclGetUniqueId", function);
    }
    return NCCL_OK;
}

static void dispose(Object *object)
{
    Comm *comm = (Comm *) object;
    pthread_cond_destroy(&comm->changed);
    free(comm->sends);
    free(comm->receives);
    free(comm);
}

static Comm *new_comm(const Opening *opening)
{
    Comm *comm = core_allocate(sizeof *comm);
    comm->size = opening->size;
    comm->rank = opening->rank;
    comm->device = opening->device;
    comm->blocking = opening->blocking;
    comm->member.rank = opening->rank;
    comm->member.device = opening->device;
    comm->member.host = identity_host();
    comm->member.notify = notify;
    comm->sends = core_allocate((size_t) opening->size * sizeof(uint64_t));
    comm->receives = core_allocate((size_t) opening->size * sizeof(uint64_t));
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&comm->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    core_publish(&comm->object, OBJECT_COMM, dispose);
    core_retain(&comm->object);
    return comm;
}

/* world_lock is held. */
static int join(Comm *comm, const Opening *opening)
{
    World *world = world_find(&opening->id);
    if (world == NULL && identity_of_this_process(&opening->id)) {
        return nccl_fail(NCCL_SYSTEM_ERROR, "Init : this unique id is used up");
    }
    if (world == NULL) {
        comm->remote = 1;
        return link_join(comm, opening, identity_port(&opening->id));
    }
    return world_join(world, &comm->member, opening->size);
}

int comm_open(const char *function, const Opening *opening, Comm **opened)
{
    int code = check_opening(function, opening);
    if (code != NCCL_OK) {
        return code;
    }
    Comm *comm = new_comm(opening);
    pthread_mutex_lock(&world_lock);
    code = join(comm, opening);
    pthread_mutex_unlock(&world_lock);
    if (code != NCCL_OK) {
        comm_close(comm, LEFT_IN_ORDER);
        comm_release(comm);
        return code;
    }
    *opened = comm;
    return NCCL_OK;
}

int comm_wait_ready(Comm *comm)
{
    pthread_mutex_lock(&world_lock);
    while (!comm->ready && comm->refused == NCCL_OK && !comm->aborted) {
        pthread_cond_wait(&comm->changed, &world_lock);
    }
    int code = comm->refused != NCCL_OK ? comm->refused : comm->aborted ? NCCL_INTERNAL_ERROR : NCCL_OK;
    pthread_mutex_unlock(&world_lock);
    return code == NCCL_OK ? NCCL_OK : nccl_fail(code, "Init : rank %d of %d was refused", comm->rank, comm->size);
}

/* ---- state ---- */

int comm_state(const Comm *comm)
{
    if (comm->refused != NCCL_OK) {
        return comm->refused;
    }
    if (comm->failed != NCCL_OK) {
        return comm->failed;
    }
    int finalizing = comm->finalized && comm->in_flight > 0;
    return !comm->ready || comm->connecting || finalizing ? NCCL_IN_PROGRESS : NCCL_OK;
}

int comm_check_ready(const char *function, Comm *comm)
{
    pthread_mutex_lock(&world_lock);
    int state = comm_state(comm);
    pthread_mutex_unlock(&world_lock);
    if (state == NCCL_IN_PROGRESS) {
        return nccl_fail(NCCL_INVALID_ARGUMENT, "%s : the previous operation has not ended yet", function);
    }
    return state == NCCL_OK ? NCCL_OK : nccl_fail(state, "%s : the communicator failed before", function);
}

/* ---- closing ---- */

void comm_close(Comm *comm, Leaving leaving)
{
    Object *table_reference = core_withdraw(OBJECT_COMM, comm->object.handle);
    pthread_mutex_lock(&world_lock);
    if (comm->remote) {
        link_leave(comm, leaving);
    } else {
        world_leave(&comm->member, leaving);
    }
    pthread_cond_broadcast(&comm->changed);
    pthread_mutex_unlock(&world_lock);
    if (table_reference != NULL) {
        core_release(table_reference);
    }
}

void comm_release(Comm *comm)
{
    core_release(&comm->object);
}

static struct timespec in_seconds(int seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += seconds;
    return until;
}

void comm_serve_visitors(Comm *comm)
{
    struct timespec until = in_seconds(SERVING_SECONDS);
    int waited = 0;
    while (waited != ETIMEDOUT && !comm->aborted && world_only_visitors_but(&comm->member)) {
        waited = pthread_cond_timedwait(&comm->changed, &world_lock, &until);
    }
}

void comm_await_end(Comm *comm)
{
    struct timespec until = in_seconds(ENDING_SECONDS);
    int waited = 0;
    while (waited != ETIMEDOUT && (comm->connecting || comm->in_flight > 0)) {
        waited = pthread_cond_timedwait(&comm->changed, &world_lock, &until);
    }
}

/* ---- calls ---- */

static void note_entry(Comm *comm)
{
    int inside = atomic_fetch_add(&comm->entries, 1) + 1;
    int most = atomic_load(&max_entries);
    while (inside > most && !atomic_compare_exchange_weak(&max_entries, &most, inside)) {
    }
    core_sleep_micros(atomic_load(&nccl_settings.dwell_micros));
}

Comm *comm_find(const char *function, void *handle)
{
    if (handle == NULL) {
        nccl_fail(NCCL_INVALID_ARGUMENT, "%s : comm argument is NULL", function);
        return NULL;
    }
    Comm *comm = (Comm *) core_acquire(OBJECT_COMM, handle);
    if (comm == NULL) {
        core_misuse(function, handle);
        nccl_fail(NCCL_INVALID_ARGUMENT, "%s : comm is destroyed, aborted or corrupted", function);
        return NULL;
    }
    return comm;
}

Comm *comm_enter(const char *function, void *handle)
{
    Comm *comm = comm_find(function, handle);
    if (comm != NULL) {
        note_entry(comm);
    }
    return comm;
}

void comm_exit(Comm *comm)
{
    atomic_fetch_sub(&comm->entries, 1);
    comm_release(comm);
}

static void reset_max_entries(void)
{
    atomic_store(&max_entries, 0);
}

__attribute__((constructor)) static void load(void)
{
    core_on_reset(reset_max_entries);
}

EXPORT int standInMaxEntries(void)
{
    return atomic_load(&max_entries);
}

/* ---- operations ---- */

void comm_post(Comm *comm, Part *part)
{
    if (comm->remote) {
        link_post(comm, part);
    } else {
        world_post(&comm->member, part);
    }
}

void comm_withdraw(Comm *comm, Part *part)
{
    if (comm->remote) {
        link_withdraw(comm, part);
    } else {
        world_withdraw(part);
    }
}

uint64_t comm_next_sequence(Comm *comm, const Request *request)
{
    switch (request->kind) {
    case SEND:
        return comm->sends[request->peer]++;
    case RECEIVE:
        return comm->receives[request->peer]++;
    default:
        return comm->collectives++;
    }
}

/* ---- hooks ---- */

typedef struct {
    const void *handle; /* NULL: all */
    int code;
} Injection;

static void inject(Object *object, void *context)
{
    const Injection *injection = context;
    if (injection->handle == NULL || injection->handle == object->handle) {
        ((Comm *) object)->failed = injection->code;
    }
}

EXPORT void standInAsyncError(void *handle, int code)
{
    Injection injection = {handle, code};
    pthread_mutex_lock(&world_lock);
    core_each(OBJECT_COMM, inject, &injection);
    pthread_mutex_unlock(&world_lock);
}
