/* Group calls, and what runs on the stream. */
#include "group.h"

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

/* ---- on the stream's thread ---- */

static void operation_finished(Part *part)
{
    Operation *operation = (Operation *) ((char *) part - offsetof(Operation, part));
    pthread_cond_broadcast(&operation->comm->changed);
}

void operation_free(Operation *operation)
{
    memory_release(operation->send_block);
    memory_release(operation->receive_block);
    stream_release(operation->stream);
    comm_release(operation->comm);
    free(operation);
}

/* world_lock is held. */
static void await(Operation *operation)
{
    Comm *comm = operation->comm;
    while (!operation->part.done && !comm->aborted) {
        pthread_cond_wait(&comm->changed, &world_lock);
    }
    if (!operation->part.done) {
        comm_withdraw(comm, &operation->part);
    }
    comm->in_flight--;
    pthread_cond_broadcast(&comm->changed);
}

/* All operations begin before the first one is waited for: messages of one group cannot block each other. */
static void run_batch(void *argument)
{
    Operation *batch = argument;
    core_sleep_micros(batch->latency_micros);
    pthread_mutex_lock(&world_lock);
    for (Operation *operation = batch; operation != NULL; operation = operation->next) {
        if (!operation->comm->aborted) {
            comm_post(operation->comm, &operation->part);
        }
    }
    for (Operation *operation = batch; operation != NULL; operation = operation->next) {
        await(operation);
    }
    pthread_mutex_unlock(&world_lock);
    while (batch != NULL) {
        Operation *next = batch->next;
        operation_free(batch);
        batch = next;
    }
}

/* ---- launching ---- */

/* Takes the operations of one stream out of the list, in their order. */
static Operation *take_batch(Operation **list, const Stream *stream)
{
    Operation *batch = NULL;
    Operation **end = &batch;
    Operation **place = list;
    while (*place != NULL) {
        Operation *operation = *place;
        if (operation->stream == stream) {
            *place = operation->next;
            operation->next = NULL;
            *end = operation;
            end = &operation->next;
        } else {
            place = &operation->next;
        }
    }
    return batch;
}

static void begin_flight(Operation *list)
{
    pthread_mutex_lock(&world_lock);
    for (Operation *operation = list; operation != NULL; operation = operation->next) {
        operation->part.finished = operation_finished;
        operation->part.request.sequence = comm_next_sequence(operation->comm, &operation->part.request);
        operation->latency_micros = atomic_load(&nccl_settings.latency_micros);
        operation->comm->in_flight++;
    }
    pthread_mutex_unlock(&world_lock);
}

static void launch(Operation *list)
{
    begin_flight(list);
    while (list != NULL) {
        Stream *stream = list->stream;
        core_retain((Object *) stream);
        stream_enqueue(stream, run_batch, take_batch(&list, stream));
        stream_release(stream);
    }
}

static void drop(Operation *list)
{
    while (list != NULL) {
        Operation *next = list->next;
        operation_free(list);
        list = next;
    }
}

void group_add(Operation *operation)
{
    if (depth == 0) {
        launch(operation);
        return;
    }
    if (operations == NULL) {
        operations = operation;
    } else {
        last_operation->next = operation;
    }
    last_operation = operation;
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
    if (code == NCCL_OK || code == NCCL_IN_PROGRESS) {
        launch(list);
    } else {
        drop(list);
    }
    return code;
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
