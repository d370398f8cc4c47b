/* Splitting a communicator: NCCL 2.18 and later. Here it always waits for the other ranks, and not inside a group. */
#include "comm.h"
#include "config.h"
#include "group.h"

#include <string.h>

/* A split is an operation of its own kind, that runs on the caller's thread instead of a stream. */
typedef struct {
    Part part;
    Comm *comm;
    SplitQuestion question;
    SplitAnswer answer;
} Split;

static void split_finished(Part *part)
{
    pthread_cond_broadcast(&((Split *) part)->comm->changed);
}

static int meet(Split *split)
{
    Comm *comm = split->comm;
    split->part.request = (Request){SPLIT, INT8, 0, NO_PEER, 0, 0};
    split->part.rank = comm->rank;
    split->part.send = (const char *) &split->question;
    split->part.receive = (char *) &split->answer;
    split->part.finished = split_finished;
    pthread_mutex_lock(&world_lock);
    split->part.request.sequence = comm_next_sequence(comm, &split->part.request);
    comm_post(comm, &split->part);
    while (!split->part.done && !comm->aborted) {
        pthread_cond_wait(&comm->changed, &world_lock);
    }
    int done = split->part.done;
    if (!done) {
        comm_withdraw(comm, &split->part);
    }
    pthread_mutex_unlock(&world_lock);
    return done ? NCCL_OK : nccl_fail(NCCL_INTERNAL_ERROR, "CommSplit : aborted while it waited");
}

static int split(Comm *comm, int color, int key, void **handle, int blocking)
{
    Split split = {.comm = comm, .question = {color, key}};
    int code = meet(&split);
    if (code != NCCL_OK) {
        return code;
    }
    *handle = NULL;
    if (split.answer.size == 0) {
        return NCCL_OK;
    }
    Opening opening = {.size = split.answer.size, .rank = split.answer.rank, .device = comm->device,
                       .blocking = blocking};
    memcpy(opening.id.bytes, split.answer.id, sizeof opening.id.bytes);
    return open_rank("CommSplit", handle, &opening);
}

EXPORT int ncclCommSplit(void *handle, int color, int key, void **result, const Config *config)
{
    int planned = core_call("ncclCommSplit", "%p,%d,%d,%p,%p", handle, color, key, (void *) result,
                            (const void *) config);
    if (planned != NCCL_OK) {
        return nccl_planned(planned, "CommSplit");
    }
    if (result == NULL || color < -1) {
        return nccl_fail(NCCL_INVALID_ARGUMENT, "CommSplit : invalid color %d, or newcomm argument is NULL", color);
    }
    Comm *comm = comm_enter("CommSplit", handle);
    if (comm == NULL) {
        return NCCL_INVALID_ARGUMENT;
    }
    int blocking = config == NULL ? comm->blocking : config_blocking("CommSplit", config);
    int code = blocking < 0 ? NCCL_INVALID_ARGUMENT : split(comm, color, key, result, blocking);
    comm_exit(comm);
    return code;
}
