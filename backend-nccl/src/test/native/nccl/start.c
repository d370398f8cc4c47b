/* Checks of an operation. NCCL makes most of them only with NCCL_CHECK_POINTERS=1; here they are always on. */
#include "collectives.h"

#include <stdlib.h>

enum { FIRST_WITH_AVERAGE_AND_BFLOAT = 21000, FIRST_WITH_FLOAT8 = 22403 };

static int check_type(const char *name, const Request *request)
{
    int version = atomic_load(&nccl_settings.version);
    int known = version >= FIRST_WITH_FLOAT8               ? TYPES
                : version >= FIRST_WITH_AVERAGE_AND_BFLOAT ? BFLOAT16 + 1
                                                           : BFLOAT16;
    if (request->type < 0 || request->type >= known) {
        return nccl_fail(NCCL_INVALID_ARGUMENT, "%s : invalid type %d", name, request->type);
    }
    int operators = version >= FIRST_WITH_AVERAGE_AND_BFLOAT ? OPERATORS : AVERAGE;
    if (request->op < 0 || request->op >= operators) {
        return nccl_fail(NCCL_INVALID_ARGUMENT, "%s : invalid reduction operation %d", name, request->op);
    }
    if (request_reduces(request) && request->type > BFLOAT16) {
        return nccl_fail(NCCL_INVALID_ARGUMENT, "%s : type %d cannot be reduced on this device", name, request->type);
    }
    return NCCL_OK;
}

static int has_peer(const Request *request)
{
    return request->kind == BROADCAST || request->kind == REDUCE || request->kind == GATHER
           || request->kind == SCATTER || request_is_message(request);
}

static int check_request(const char *name, const Comm *comm, const Request *request)
{
    int code = check_type(name, request);
    if (code != NCCL_OK) {
        return code;
    }
    if (has_peer(request) && (request->peer < 0 || request->peer >= comm->size)) {
        return nccl_fail(NCCL_INVALID_ARGUMENT, "%s : invalid root or peer %d (should be in the 0..%d range)", name,
                         request->peer, comm->size - 1);
    }
    if (request->count > SIZE_MAX / 16 / (size_t) comm->size) {
        return nccl_fail(NCCL_INVALID_ARGUMENT, "%s : invalid count %zu", name, (size_t) request->count);
    }
    return NCCL_OK;
}

static int check_comm(const char *name, Comm *comm)
{
    int code = comm_check_ready(name, comm);
    if (code != NCCL_OK) {
        return code;
    }
    pthread_mutex_lock(&world_lock);
    int ending = comm->finalized || comm->closing;
    pthread_mutex_unlock(&world_lock);
    if (ending) {
        return nccl_fail(NCCL_INVALID_USAGE, "%s : communicator is finalized", name);
    }
    return nccl_check_devices();
}

/* The contents of a buffer, held; NULL with the last error if it is not memory that this device can reach. */
static char *hold_buffer(const char *what, const Comm *comm, const void *address, size_t bytes, Block **block)
{
    char *contents = address == NULL ? NULL : memory_hold(address, bytes, block);
    if (contents != NULL && (memory_kind(*block) == MEMORY_PINNED || memory_device(*block) == comm->device)) {
        return contents;
    }
    nccl_fail(NCCL_INVALID_ARGUMENT, "%s %p is not %zu bytes of device %d", what, address, bytes, comm->device);
    return NULL;
}

static int hold_buffers(Operation *operation, const Target *target)
{
    const Comm *comm = operation->comm;
    const Request *request = &operation->part.request;
    size_t sends = request_sends(request, comm->size, comm->rank);
    size_t receives = request_receives(request, comm->size, comm->rank);
    if (sends > 0) {
        operation->part.send = hold_buffer("sendbuff", comm, target->send, sends, &operation->send_block);
    }
    if (receives > 0) {
        operation->part.receive = hold_buffer("recvbuff", comm, target->receive, receives, &operation->receive_block);
    }
    int missing = (sends > 0 && operation->part.send == NULL) || (receives > 0 && operation->part.receive == NULL);
    return missing ? NCCL_INVALID_ARGUMENT : NCCL_OK;
}

static int start_checked(const char *name, Comm *comm, const Request *request, const Target *target)
{
    Stream *stream = stream_acquire(target->stream, comm->device);
    if (stream == NULL || stream_device(stream) != comm->device) {
        if (stream == NULL) {
            core_misuse(name, target->stream);
        } else {
            stream_release(stream);
        }
        return nccl_fail(NCCL_CUDA_ERROR, "Cuda failure %d : %s on a stream of another device than %d",
                         CUDA_INVALID_HANDLE, name, comm->device);
    }
    Operation *operation = core_allocate(sizeof *operation);
    core_retain(&comm->object);
    operation->comm = comm;
    operation->stream = stream;
    operation->part.request = *request;
    operation->part.rank = comm->rank;
    int code = hold_buffers(operation, target);
    if (code != NCCL_OK) {
        operation_free(operation);
        return code;
    }
    return group_add(operation);
}

int start_operation(int planned, Request request, Target target)
{
    const char *name = request_name((RequestKind) request.kind);
    if (planned != NCCL_OK) {
        return group_note(nccl_planned(planned, name));
    }
    Comm *comm = comm_enter(name, target.comm);
    if (comm == NULL) {
        return group_note(NCCL_INVALID_ARGUMENT);
    }
    int code = check_comm(name, comm);
    if (code == NCCL_OK) {
        code = check_request(name, comm, &request);
    }
    /* An empty collective ends here, without a word to the other ranks; an empty message does not. */
    int nothing_to_do = request.count == 0 && !request_is_message(&request);
    if (code == NCCL_OK && !nothing_to_do) {
        code = start_checked(name, comm, &request, &target);
    }
    comm_exit(comm);
    return group_note(code);
}
