/* Collectives of NCCL 2.28 and later; before that they are made of messages. */
#include "collectives.h"

EXPORT int ncclAlltoAll(const void *send, void *receive, size_t count, int type, void *comm, void *stream)
{
    int planned = core_call("ncclAlltoAll", "%p,%p,%zu,%d,%p,%p", send, receive, count, type, comm, stream);
    return start_operation(planned, (Request){ALL_TO_ALL, type, 0, NO_PEER, count, 0},
                           (Target){send, receive, comm, stream});
}

EXPORT int ncclGather(const void *send, void *receive, size_t count, int type, int root, void *comm, void *stream)
{
    int planned = core_call("ncclGather", "%p,%p,%zu,%d,%d,%p,%p", send, receive, count, type, root, comm, stream);
    return start_operation(planned, (Request){GATHER, type, 0, root, count, 0},
                           (Target){send, receive, comm, stream});
}

EXPORT int ncclScatter(const void *send, void *receive, size_t count, int type, int root, void *comm, void *stream)
{
    int planned = core_call("ncclScatter", "%p,%p,%zu,%d,%d,%p,%p", send, receive, count, type, root, comm, stream);
    return start_operation(planned, (Request){SCATTER, type, 0, root, count, 0},
                           (Target){send, receive, comm, stream});
}
