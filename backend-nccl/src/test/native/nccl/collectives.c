/* The collectives that every NCCL 2 has. */
#include "collectives.h"

EXPORT int ncclAllReduce(const void *send, void *receive, size_t count, int type, int op, void *comm, void *stream)
{
    int planned = core_call("ncclAllReduce", "%p,%p,%zu,%d,%d,%p,%p", send, receive, count, type, op, comm, stream);
    return start_operation(planned, (Request){ALL_REDUCE, type, op, NO_PEER, count, 0},
                           (Target){send, receive, comm, stream});
}

EXPORT int ncclBroadcast(const void *send, void *receive, size_t count, int type, int root, void *comm, void *stream)
{
    int planned = core_call("ncclBroadcast", "%p,%p,%zu,%d,%d,%p,%p", send, receive, count, type, root, comm, stream);
    return start_operation(planned, (Request){BROADCAST, type, 0, root, count, 0},
                           (Target){send, receive, comm, stream});
}

EXPORT int ncclBcast(void *buffer, size_t count, int type, int root, void *comm, void *stream)
{
    int planned = core_call("ncclBcast", "%p,%zu,%d,%d,%p,%p", buffer, count, type, root, comm, stream);
    return start_operation(planned, (Request){BROADCAST, type, 0, root, count, 0},
                           (Target){buffer, buffer, comm, stream});
}

EXPORT int ncclReduce(const void *send, void *receive, size_t count, int type, int op, int root, void *comm,
                      void *stream)
{
    int planned =
        core_call("ncclReduce", "%p,%p,%zu,%d,%d,%d,%p,%p", send, receive, count, type, op, root, comm, stream);
    return start_operation(planned, (Request){REDUCE, type, op, root, count, 0},
                           (Target){send, receive, comm, stream});
}

EXPORT int ncclAllGather(const void *send, void *receive, size_t count, int type, void *comm, void *stream)
{
    int planned = core_call("ncclAllGather", "%p,%p,%zu,%d,%p,%p", send, receive, count, type, comm, stream);
    return start_operation(planned, (Request){ALL_GATHER, type, 0, NO_PEER, count, 0},
                           (Target){send, receive, comm, stream});
}

EXPORT int ncclReduceScatter(const void *send, void *receive, size_t count, int type, int op, void *comm,
                             void *stream)
{
    int planned =
        core_call("ncclReduceScatter", "%p,%p,%zu,%d,%d,%p,%p", send, receive, count, type, op, comm, stream);
    return start_operation(planned, (Request){REDUCE_SCATTER, type, op, NO_PEER, count, 0},
                           (Target){send, receive, comm, stream});
}
