/* Group calls: operations and openings that are collected per thread and launched together. */
#ifndef GROUP_H
#define GROUP_H

#include "launch.h"

void group_begin(void);
/* Ends one level; the outermost one launches everything or, after an error, drops it. */
int group_finish(void);
/* Adds the operation to this thread's group, or launches it at once if there is none; 7 as launch.h says. */
int group_add(Operation *operation);
/*
 * Hands over a communicator that is waiting for its ranks, with the place for its handle. Outside of a group waits,
 * inside group_finish does. After a failure the place holds NULL. Takes the caller's reference.
 */
int group_open(Comm *comm, void **handle);
/* comm_open and group_open in one, for the functions that open a communicator. */
int open_rank(const char *function, void **handle, const Opening *opening);
/* Every call inside a group passes its code through here: the first error is the group's. */
int group_note(int code);

#endif
