/* The root of a world: the process that made its id, and listens for the ranks of other processes. */
#ifndef ROOT_H
#define ROOT_H

#include <stdint.h>

/* The port on 127.0.0.1 where this process listens, 0 if it cannot. Starts to listen. world_lock is held. */
uint16_t root_port(void);
/* To be called when the last world has gone: the root then stops to listen. world_lock is held. */
void root_may_stop(void);

/* ---- visitor.c ---- */

/* Speaks with a rank of another process that has connected; takes over the socket. */
void visitor_open(int socket);

#endif
