/* Opening with a config, and finalizing: NCCL 2.14 and later. */
#include "comm.h"
#include "config.h"
#include "group.h"

EXPORT int ncclCommInitRankConfig(void **handle, int size, UniqueId id, int rank, const Config *config)
{
    int planned = core_call("ncclCommInitRankConfig", "%p,%d,%d,%d,%p", (void *) handle, size, standInEcho(0, id, 0),
                            rank, (const void *) config);
    if (planned != NCCL_OK) {
        return group_note(nccl_planned(planned, "CommInitRankConfig"));
    }
    int blocking = config_blocking("CommInitRankConfig", config);
    if (blocking < 0) {
        return group_note(NCCL_INVALID_ARGUMENT);
    }
    return open_rank("CommInitRankConfig", handle, &(Opening){id, size, rank, device_current(), blocking});
}

/* A blocking communicator waits for what is in flight; another one says so by its asynchronous error. */
static int finalize(Comm *comm)
{
    pthread_mutex_lock(&world_lock);
    int second = comm->finalized;
    comm->finalized = 1;
    while (comm->blocking && comm->in_flight > 0 && !comm->aborted) {
        pthread_cond_wait(&comm->changed, &world_lock);
    }
    int code = comm->in_flight > 0 && !comm->aborted ? NCCL_IN_PROGRESS : NCCL_OK;
    pthread_mutex_unlock(&world_lock);
    return second ? nccl_fail(NCCL_INVALID_ARGUMENT, "CommFinalize : comm is finalized already") : code;
}

EXPORT int ncclCommFinalize(void *handle)
{
    int planned = core_call("ncclCommFinalize", "%p", handle);
    if (planned != NCCL_OK) {
        return nccl_planned(planned, "CommFinalize");
    }
    if (handle == NULL) {
        return NCCL_OK;
    }
    Comm *comm = comm_enter("CommFinalize", handle);
    if (comm == NULL) {
        return NCCL_INVALID_ARGUMENT;
    }
    int code = comm_check_ready("CommFinalize", comm);
    if (code == NCCL_OK) {
        code = finalize(comm);
    }
    comm_exit(comm);
    return code;
}
