/* A rank's end of the connection to a root in another process. world_lock is held in all of them. */
#ifndef LINK_H
#define LINK_H

#include "comm.h"

/* Connects to the root that listens at this port and says hello; does not wait for an answer. */
int link_join(Comm *comm, const Opening *opening, uint16_t port);
void link_leave(Comm *comm, Leaving leaving);
void link_post(Comm *comm, Part *part);
void link_withdraw(Comm *comm, Part *part);

#endif
