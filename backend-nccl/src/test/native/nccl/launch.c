/* Operations: how they get on their streams, and what they do there. */
#include "launch.h"

#include <stdlib.h>

enum { SLICE_MICROS = 200 };

/* ---- on the stream's thread ---- */

static void operation_finished(Part *part)
{
    Operation *operation = (Operation *) ((char *) part - offsetof(Operation, part));
    operation->departures = operation->comm->departures;
    pthread_cond_broadcast(&operation->comm->changed);
}

static void release_buffers(Operation *operation)
{
    memory_release(operation->send_block);
    memory_release(operation->receive_block);
    operation->send_block = operation->receive_block = NULL;
}

void operation_free(Operation *operation)
{
    release_buffers(operation);
    stream_release(operation->stream);
    comm_release(operation->comm);
    free(operation);
}

/* The kernel runs on for a while; if a rank goes meanwhile, it waits for ever for what that rank had. world_lock is held. */
static void run_on(Operation *operation)
{
    Comm *comm = operation->comm;
    uint64_t turn = ((uint64_t) comm->rank + operation->part.request.sequence) % (uint64_t) comm->size;
    int micros = atomic_load(&nccl_settings.tail_micros) * (int) turn;
    if (micros == 0) {
        return;
    }
    pthread_mutex_unlock(&world_lock);
    core_sleep_micros(micros);
    pthread_mutex_lock(&world_lock);
    while (comm->departures != operation->departures && !comm->aborted) {
        pthread_cond_wait(&comm->changed, &world_lock);
    }
}

/* world_lock is held. */
static void await(Operation *operation)
{
    Comm *comm = operation->comm;
    while (!operation->part.done && !comm->aborted) {
        pthread_cond_wait(&comm->changed, &world_lock);
    }
    if (operation->part.done && !comm->aborted) {
        run_on(operation);
    }
    if (!operation->part.done) {
        comm_withdraw(comm, &operation->part);
    }
    release_buffers(operation);
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

static void enqueue(Operation *list)
{
    while (list != NULL) {
        Stream *stream = list->stream;
        core_retain((Object *) stream);
        stream_enqueue(stream, run_batch, take_batch(&list, stream));
        stream_release(stream);
    }
}

/* ---- the first operation of a non-blocking communicator ---- */

/* Until these have run, their communicators are connecting. */
typedef struct {
    Operation *list;
    int micros;
    int count;
    Comm *comms[]; /* retained, one per operation */
} Connection;

static Connection *new_connection(Operation *list)
{
    int count = 0;
    for (Operation *operation = list; operation != NULL; operation = operation->next) {
        count++;
    }
    Connection *connection = core_allocate(sizeof *connection + (size_t) count * sizeof(Comm *));
    connection->list = list;
    connection->micros = atomic_load(&nccl_settings.connect_micros);
    for (Operation *operation = list; operation != NULL; operation = operation->next) {
        core_retain(&operation->comm->object);
        connection->comms[connection->count++] = operation->comm;
    }
    return connection;
}

static void set_connecting(const Connection *connection, int connecting)
{
    pthread_mutex_lock(&world_lock);
    for (int i = 0; i < connection->count; i++) {
        connection->comms[i]->connecting = connecting;
        connection->comms[i]->connected = 1;
        pthread_cond_broadcast(&connection->comms[i]->changed);
    }
    pthread_mutex_unlock(&world_lock);
}

static int any_aborted(const Connection *connection)
{
    int aborted = 0;
    pthread_mutex_lock(&world_lock);
    for (int i = 0; i < connection->count; i++) {
        aborted = aborted || connection->comms[i]->aborted;
    }
    pthread_mutex_unlock(&world_lock);
    return aborted;
}

/* An abort ends the waiting. */
static void wait_for_connection(const Connection *connection)
{
    int micros = connection->micros;
    while (micros > 0 && !any_aborted(connection)) {
        core_sleep_micros(micros < SLICE_MICROS ? micros : SLICE_MICROS);
        micros -= SLICE_MICROS;
    }
}

/* Operations of an aborted communicator are not on their stream, and never come there. */
static Operation *drop_aborted(Operation *list)
{
    Operation **place = &list;
    while (*place != NULL) {
        Operation *operation = *place;
        pthread_mutex_lock(&world_lock);
        int aborted = operation->comm->aborted;
        if (aborted) {
            release_buffers(operation);
            operation->comm->in_flight--;
        }
        pthread_mutex_unlock(&world_lock);
        if (aborted) {
            *place = operation->next;
            operation_free(operation);
        } else {
            place = &operation->next;
        }
    }
    return list;
}

static void *connect_then_enqueue(void *argument)
{
    Connection *connection = argument;
    wait_for_connection(connection);
    enqueue(drop_aborted(connection->list));
    set_connecting(connection, 0);
    for (int i = 0; i < connection->count; i++) {
        comm_release(connection->comms[i]);
    }
    free(connection);
    core_thread_ends();
    return NULL;
}

static int must_connect(const Operation *list)
{
    int must = 0;
    pthread_mutex_lock(&world_lock);
    for (const Operation *operation = list; operation != NULL; operation = operation->next) {
        must = must || (!operation->comm->blocking && !operation->comm->connected);
    }
    pthread_mutex_unlock(&world_lock);
    return must && atomic_load(&nccl_settings.connect_micros) > 0;
}

int launch(Operation *list)
{
    begin_flight(list);
    if (!must_connect(list)) {
        enqueue(list);
        return NCCL_OK;
    }
    Connection *connection = new_connection(list);
    set_connecting(connection, 1);
    core_start_thread(connect_then_enqueue, connection);
    return nccl_fail(NCCL_IN_PROGRESS, "the ranks are being connected");
}
