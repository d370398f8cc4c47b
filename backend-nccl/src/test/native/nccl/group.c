/* Group calls: what is collected, and when it is launched or dropped. */
#include "group.h"

#include "launch.h"

#include <stdlib.h>

/* A communicator that was opened inside of the group. */
typedef struct Awaited {
    Comm *comm;
    void **handle;
    struct Awaited *next;
} Awaited;

static __thread int depth;
static __thread int first_error;
static __thread Operation *operations;
static __thread Operation *last_operation;
static __thread Awaited *openings;

/* ---- operations ---- */

static void drop(Operation *list)
{
    while (list != NULL) {
        Operation *next = list->next;
        operation_free(list);
        list = next;
    }
}

int group_add(Operation *operation)
{
    if (depth == 0) {
        return launch(operation);
    }
    if (operations == NULL) {
        operations = operation;
    } else {
        last_operation->next = operation;
    }
    last_operation = operation;
    return NCCL_OK;
}

/* ---- openings ---- */

static void drop_opening(Comm *comm, void **handle)
{
    *handle = NULL;
    comm_close(comm, LEFT_IN_ORDER);
}

int group_open(Comm *comm, void **handle)
{
    *handle = comm->object.handle;
    if (depth > 0) {
        Awaited *awaited = core_allocate(sizeof *awaited);
        awaited->comm = comm;
        awaited->handle = handle;
        awaited->next = openings;
        openings = awaited;
        return NCCL_OK;
    }
    int code = comm->blocking ? comm_wait_ready(comm) : NCCL_IN_PROGRESS;
    if (code != NCCL_OK && code != NCCL_IN_PROGRESS) {
        drop_opening(comm, handle);
    }
    comm_release(comm);
    return code;
}

/* Waits for the ranks of all communicators opened in the group, unless the group has failed already. */
static int await_openings(int code)
{
    int in_progress = 0;
    for (Awaited *awaited = openings; awaited != NULL && code == NCCL_OK; awaited = awaited->next) {
        if (awaited->comm->blocking) {
            code = comm_wait_ready(awaited->comm);
        } else {
            in_progress = 1;
        }
    }
    return code == NCCL_OK && in_progress ? NCCL_IN_PROGRESS : code;
}

static void end_openings(int code)
{
    while (openings != NULL) {
        Awaited *awaited = openings;
        openings = awaited->next;
        if (code != NCCL_OK && code != NCCL_IN_PROGRESS) {
            drop_opening(awaited->comm, awaited->handle);
        }
        comm_release(awaited->comm);
        free(awaited);
    }
}

/* ---- groups ---- */

void group_begin(void)
{
    if (depth == 0) {
        first_error = NCCL_OK;
    }
    depth++;
}

int group_note(int code)
{
    if (depth > 0 && first_error == NCCL_OK && code != NCCL_IN_PROGRESS) {
        first_error = code;
    }
    return code;
}

int group_finish(void)
{
    if (depth == 0) {
        return nccl_fail(NCCL_INVALID_USAGE, "ncclGroupEnd: not in a group call.");
    }
    depth--;
    if (depth > 0) {
        return NCCL_OK;
    }
    int code = await_openings(first_error);
    end_openings(code);
    Operation *list = operations;
    operations = last_operation = NULL;
    if (code != NCCL_OK && code != NCCL_IN_PROGRESS) {
        drop(list);
        return code;
    }
    int launched = launch(list);
    return launched != NCCL_OK ? launched : code;
}

EXPORT int ncclGroupStart(void)
{
    int planned = core_call("ncclGroupStart", "%s", "");
    if (planned != NCCL_OK) {
        return nccl_planned(planned, "GroupStart");
    }
    group_begin();
    return NCCL_OK;
}

/* A planned failure still ends the group, as a failure of NCCL does: nothing of it is launched. */
EXPORT int ncclGroupEnd(void)
{
    int planned = core_call("ncclGroupEnd", "%s", "");
    if (planned != NCCL_OK && depth > 0) {
        group_note(planned);
        nccl_planned(planned, "GroupEnd");
    }
    return group_finish();
}
