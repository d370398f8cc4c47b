/*
 * A world: the ranks that share a unique id, kept in the process that made the id (the root). Operations meet here; the
 * last rank to arrive moves the data of all, in the order of the ranks.
 *
 * Everything here needs world_lock, which no caller holds while it waits for a peer or a socket.
 */
#ifndef WORLD_H
#define WORLD_H

#include "nccl.h"
#include "request.h"

#include <pthread.h>

extern pthread_mutex_t world_lock;

typedef struct World World;
typedef struct Meeting Meeting;

typedef enum {
    ALL_HERE, /* every rank has joined */
    REFUSED,  /* this world will never be complete; with the code */
    FAILED,   /* something happened to another rank; with the code */
    ONE_LEFT  /* a rank has left */
} Notice;

/* One rank, either a communicator of this process or the connection of another one. */
typedef struct Member {
    World *world; /* NULL before it joined and after it left */
    int rank;
    int device;
    uint64_t host;
    int visiting; /* it is in another process */
    void (*notify)(struct Member *member, Notice notice, int code);
} Member;

/* One rank's part of an operation. It must stay where it is until it is done or withdrawn. */
typedef struct Part {
    Request request;
    int rank;
    const char *send;
    char *receive;
    int done;
    int left_behind; /* its rank went on: this is a copy of what others still need */
    void (*finished)(struct Part *part);
    Meeting *meeting; /* where it waits, if the world is in this process */
    uint64_t ticket;  /* how the other process knows it, if the world is there */
    struct Part *next_pending;
} Part;

typedef enum { LEFT_IN_ORDER, LEFT_BY_ABORT, LEFT_BY_DEATH } Leaving;

/* A world that waits for its ranks. */
void world_open(const UniqueId *id);
/* The world of an id that this process made, or NULL. */
World *world_find(const UniqueId *id);
/* Ranks of the world as the first one to join said, 0 before that. */
int world_size(const World *world);
/* The member's rank, device, host and notify are set. On failure answers the code; no rank is then told twice. */
int world_join(World *world, Member *member, int size);
/* Takes the member and all its parts out; a world that nobody is in any more is gone. */
void world_leave(Member *member, Leaving leaving);
/* Would this process, without that member, still have to serve ranks of other processes with nobody of its own? */
int world_only_visitors_but(const Member *member);
void world_post(Member *member, Part *part);
/* Afterwards nobody touches the part's buffers any more. */
void world_withdraw(Part *part);
/* Forgets worlds that nobody joined for a minute; answers whether any world is left. */
int worlds_sweep(void);

/* ---- exchange.c ---- */

/* Moves the data of an operation that all ranks have come to. */
void exchange(Part *const *parts, int count);

#endif
