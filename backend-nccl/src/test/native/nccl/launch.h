/* Operations on their way to the stream and on it. */
#ifndef LAUNCH_H
#define LAUNCH_H

#include "comm.h"

/* One operation of one communicator, from the call until it has run. */
typedef struct Operation {
    Part part;
    Comm *comm;     /* retained */
    Stream *stream; /* retained */
    Block *send_block;
    Block *receive_block;
    int latency_micros; /* before it begins */
    int departures; /* of other ranks, when it was done */
    struct Operation *next;
} Operation;

/*
 * Puts a list of operations on their streams. 7 if that happens a little later, because a non-blocking communicator
 * has to connect first.
 */
int launch(Operation *list);
void operation_free(Operation *operation);

#endif
