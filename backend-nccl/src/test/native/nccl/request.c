/* Sizes and names of requests. */
#include "request.h"

const char *request_name(RequestKind kind)
{
    static const char *const names[] = {"AllReduce", "Broadcast", "Reduce", "AllGather", "ReduceScatter", "AlltoAll",
                                        "Gather",    "Scatter",   "Split",  "Send",      "Recv"};
    return names[kind];
}

size_t type_bytes(int type)
{
    static const size_t bytes[TYPES] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
    return bytes[type];
}

int request_is_message(const Request *request)
{
    return request->kind == SEND || request->kind == RECEIVE;
}

int request_reduces(const Request *request)
{
    return request->kind == ALL_REDUCE || request->kind == REDUCE || request->kind == REDUCE_SCATTER;
}

size_t request_sends(const Request *request, int size, int rank)
{
    size_t bytes = request->count * type_bytes(request->type);
    switch (request->kind) {
    case REDUCE_SCATTER:
    case ALL_TO_ALL:
        return bytes * (size_t) size;
    case BROADCAST:
        return rank == request->peer ? bytes : 0;
    case SCATTER:
        return rank == request->peer ? bytes * (size_t) size : 0;
    case RECEIVE:
        return 0;
    case SPLIT:
        return sizeof(SplitQuestion);
    default:
        return bytes;
    }
}

size_t request_receives(const Request *request, int size, int rank)
{
    size_t bytes = request->count * type_bytes(request->type);
    switch (request->kind) {
    case ALL_GATHER:
    case ALL_TO_ALL:
        return bytes * (size_t) size;
    case REDUCE:
        return rank == request->peer ? bytes : 0;
    case GATHER:
        return rank == request->peer ? bytes * (size_t) size : 0;
    case SEND:
        return 0;
    case SPLIT:
        return sizeof(SplitAnswer);
    default:
        return bytes;
    }
}

int requests_agree(const Request *one, const Request *other)
{
    if (one->count != other->count || one->type != other->type) {
        return 0;
    }
    if (request_is_message(one)) {
        return 1;
    }
    return one->kind == other->kind && one->op == other->op && one->peer == other->peer;
}
