/* Messages between two ranks: NCCL 2.7 and later. */
#include "collectives.h"

EXPORT int ncclSend(const void *send, size_t count, int type, int peer, void *comm, void *stream)
{
    int planned = core_call("ncclSend", "%p,%zu,%d,%d,%p,%p", send, count, type, peer, comm, stream);
    return start_operation(planned, (Request){SEND, type, 0, peer, count, 0}, (Target){send, NULL, comm, stream});
}

EXPORT int ncclRecv(void *receive, size_t count, int type, int peer, void *comm, void *stream)
{
    int planned = core_call("ncclRecv", "%p,%zu,%d,%d,%p,%p", receive, count, type, peer, comm, stream);
    return start_operation(planned, (Request){RECEIVE, type, 0, peer, count, 0},
                           (Target){NULL, receive, comm, stream});
}
