/* Making, asking and ending communicators: the part that every NCCL 2 has. */
#include "group.h"
#include "identity.h"

enum { ABORT_LOOK_MICROS = 1000 };

EXPORT int ncclGetUniqueId(UniqueId *id)
{
    int planned = core_call("ncclGetUniqueId", "%p", (void *) id);
    if (planned != NCCL_OK) {
        return nccl_planned(planned, "GetUniqueId");
    }
    if (id == NULL) {
        return nccl_fail(NCCL_INVALID_ARGUMENT, "GetUniqueId : id argument is NULL");
    }
    pthread_mutex_lock(&world_lock);
    int code = identity_make(id);
    pthread_mutex_unlock(&world_lock);
    return code;
}

/* ---- opening ---- */

int open_rank(const char *function, void **handle, const Opening *opening)
{
    if (handle == NULL) {
        return group_note(nccl_fail(NCCL_INVALID_ARGUMENT, "%s : comm argument is NULL", function));
    }
    Comm *comm = NULL;
    int code = comm_open(function, opening, &comm);
    return group_note(code != NCCL_OK ? code : group_open(comm, handle));
}

EXPORT int ncclCommInitRank(void **handle, int size, UniqueId id, int rank)
{
    /* The id appears in the log as its hash: it is all that is needed to enter a world. */
    int planned =
        core_call("ncclCommInitRank", "%p,%d,%d,%d", (void *) handle, size, standInEcho(0, id, 0), rank);
    if (planned != NCCL_OK) {
        return group_note(nccl_planned(planned, "CommInitRank"));
    }
    return open_rank("CommInitRank", handle, &(Opening){id, size, rank, device_current(), 1});
}

/* The device of a rank: from the list, or its own number if there is no list. */
static int device_of(const int *devices, int rank)
{
    return devices == NULL ? rank : devices[rank];
}

static int check_devices(int size, const int *devices)
{
    if (size < 1) {
        return nccl_fail(NCCL_INVALID_ARGUMENT, "CommInitAll : invalid device count requested : %d", size);
    }
    for (int rank = 0; rank < size; rank++) {
        int device = device_of(devices, rank);
        if (device < 0 || device >= device_count()) {
            return nccl_fail(NCCL_INVALID_ARGUMENT, "CommInitAll : device %d of rank %d does not exist", device, rank);
        }
        for (int other = 0; other < rank; other++) {
            if (device_of(devices, other) == device) {
                return nccl_fail(NCCL_INVALID_USAGE, "CommInitAll : device %d is named twice", device);
            }
        }
    }
    return NCCL_OK;
}

static int open_all(void **handles, int size, const int *devices)
{
    UniqueId id;
    pthread_mutex_lock(&world_lock);
    int code = identity_make(&id);
    pthread_mutex_unlock(&world_lock);
    if (code != NCCL_OK) {
        return code;
    }
    group_begin();
    for (int rank = 0; rank < size && code == NCCL_OK; rank++) {
        Opening opening = {id, size, rank, device_of(devices, rank), 1};
        code = open_rank("CommInitAll", &handles[rank], &opening);
    }
    return group_finish();
}

EXPORT int ncclCommInitAll(void **handles, int size, const int *devices)
{
    int planned = core_call("ncclCommInitAll", "%p,%d,%p", (void *) handles, size, (const void *) devices);
    if (planned != NCCL_OK) {
        return nccl_planned(planned, "CommInitAll");
    }
    if (handles == NULL) {
        return nccl_fail(NCCL_INVALID_ARGUMENT, "CommInitAll : comms argument is NULL");
    }
    int code = nccl_check_devices();
    if (code == NCCL_OK) {
        code = check_devices(size, devices);
    }
    return code != NCCL_OK ? code : open_all(handles, size, devices);
}

/* ---- ending ---- */

/*
 * Waits for what is in flight, as NCCL does: with a rank missing that is for ever, unless another thread aborts. An
 * abort that comes while this waits is a misuse, but it ends the wait.
 */
static int destroy(Comm *comm)
{
    pthread_mutex_lock(&world_lock);
    int second = comm->closing;
    comm->closing = 1;
    while (!second && comm->in_flight > 0 && !comm->aborted) {
        pthread_cond_wait(&comm->changed, &world_lock);
    }
    if (!second) {
        comm_serve_visitors(comm);
    }
    Leaving leaving = comm->aborted ? LEFT_BY_ABORT : LEFT_IN_ORDER;
    pthread_mutex_unlock(&world_lock);
    if (second) {
        core_misuse("CommDestroy", comm->object.handle);
        return nccl_fail(NCCL_INVALID_ARGUMENT, "CommDestroy : comm is being destroyed already");
    }
    comm_close(comm, leaving);
    return NCCL_OK;
}

EXPORT int ncclCommDestroy(void *handle)
{
    int planned = core_call("ncclCommDestroy", "%p", handle);
    if (planned != NCCL_OK) {
        return nccl_planned(planned, "CommDestroy");
    }
    if (handle == NULL) {
        return NCCL_OK;
    }
    Comm *comm = comm_enter("CommDestroy", handle);
    if (comm == NULL) {
        return NCCL_INVALID_ARGUMENT;
    }
    int code = destroy(comm);
    comm_exit(comm);
    return code;
}

/* Wakes whoever waits on this communicator. */
static int abort_comm(Comm *comm)
{
    pthread_mutex_lock(&world_lock);
    int late = comm->aborted || comm->closing;
    comm->aborted = 1;
    pthread_cond_broadcast(&comm->changed);
    pthread_mutex_unlock(&world_lock);
    if (late) {
        core_misuse("CommAbort", comm->object.handle);
        return nccl_fail(NCCL_INVALID_ARGUMENT, "CommAbort : comm is being destroyed or aborted already");
    }
    comm_close(comm, LEFT_BY_ABORT);
    pthread_mutex_lock(&world_lock);
    comm_await_end(comm);
    pthread_mutex_unlock(&world_lock);
    return NCCL_OK;
}

EXPORT int ncclCommAbort(void *handle)
{
    int planned = core_call("ncclCommAbort", "%p", handle);
    if (planned != NCCL_OK) {
        return nccl_planned(planned, "CommAbort");
    }
    if (handle == NULL) {
        return NCCL_OK;
    }
    while (atomic_load(&nccl_settings.abort_hangs)) {
        core_sleep_micros(ABORT_LOOK_MICROS);
    }
    Comm *comm = comm_find("CommAbort", handle);
    if (comm == NULL) {
        return NCCL_INVALID_ARGUMENT;
    }
    int code = abort_comm(comm);
    comm_release(comm);
    return code;
}

/* ---- asking ---- */

EXPORT int ncclCommGetAsyncError(void *handle, int *code)
{
    int planned = core_call("ncclCommGetAsyncError", "%p,%p", handle, (void *) code);
    if (planned != NCCL_OK) {
        return nccl_planned(planned, "CommGetAsyncError");
    }
    Comm *comm = comm_find("CommGetAsyncError", handle);
    if (comm == NULL) {
        return NCCL_INVALID_ARGUMENT;
    }
    pthread_mutex_lock(&world_lock);
    *code = comm_state(comm);
    pthread_mutex_unlock(&world_lock);
    comm_release(comm);
    return NCCL_OK;
}

typedef enum { ASK_SIZE, ASK_RANK, ASK_DEVICE } Question;

static int ask(int planned, const char *name, void *handle, Question question, int *answer)
{
    if (planned != NCCL_OK) {
        return nccl_planned(planned, name);
    }
    Comm *comm = comm_enter(name, handle);
    if (comm == NULL) {
        return NCCL_INVALID_ARGUMENT;
    }
    int code = comm_check_ready(name, comm);
    if (code == NCCL_OK) {
        *answer = question == ASK_SIZE ? comm->size : question == ASK_RANK ? comm->rank : comm->device;
    }
    comm_exit(comm);
    return code;
}

EXPORT int ncclCommCount(void *handle, int *count)
{
    int planned = core_call("ncclCommCount", "%p,%p", handle, (void *) count);
    return ask(planned, "CommCount", handle, ASK_SIZE, count);
}

EXPORT int ncclCommUserRank(void *handle, int *rank)
{
    int planned = core_call("ncclCommUserRank", "%p,%p", handle, (void *) rank);
    return ask(planned, "CommUserRank", handle, ASK_RANK, rank);
}

EXPORT int ncclCommCuDevice(void *handle, int *device)
{
    int planned = core_call("ncclCommCuDevice", "%p,%p", handle, (void *) device);
    return ask(planned, "CommCuDevice", handle, ASK_DEVICE, device);
}
