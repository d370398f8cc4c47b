/* The way that every operation takes from the call to the stream. */
#ifndef COLLECTIVES_H
#define COLLECTIVES_H

#include "group.h"

/* The caller's buffers and handles. */
typedef struct {
    const void *send;
    void *receive;
    void *comm;
    void *stream;
} Target;

/*
 * Checks the request and starts it. `planned` is the failure planned for this call: any but 0 ends it at once. The
 * request's sequence is filled in later.
 */
int start_operation(int planned, Request request, Target target);

#endif
