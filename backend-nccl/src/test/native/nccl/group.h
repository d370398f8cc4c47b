/* Group calls: operations and openings that are collected per thread and launched together. */
#ifndef GROUP_H
#define GROUP_H

#include "comm.h"

/* One operation of one communicator, from the call until it has run. */
typedef struct Operation {
    Part part;
    Comm *comm;     /* retained */
    Stream *stream; /* retained */
    Block *send_block;
    Block *receive_block;
    int latency_micros; /* before it begins */
    struct Operation *next;
} Operation;

void group_begin(void);
/* Ends one level; the outermost one launches everything or, after an error, drops it. */
int group_finish(void);
/* Adds the operation to this thread's group, or launches it at once if there is none. */
void group_add(Operation *operation);
/*
 * Hands over a communicator that is waiting for its ranks, with the place for its handle. Outside of a group waits,
 * inside group_finish does. After a failure the place holds NULL. Takes the caller's reference.
 */
int group_open(Comm *comm, void **handle);
/* comm_open and group_open in one, for the functions that open a communicator. */
int open_rank(const char *function, void **handle, const Opening *opening);
/* Every call inside a group passes its code through here: the first error is the group's. */
int group_note(int code);
void operation_free(Operation *operation);

#endif
