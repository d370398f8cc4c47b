/* Communicators: one rank's handle to its world. */
#ifndef COMM_H
#define COMM_H

#include "wire.h"
#include "world.h"

typedef struct Comm {
    Object object;
    Member member;
    int size;
    int rank;
    int device;
    int blocking;
    pthread_cond_t changed; /* with world_lock, like all that follows */
    int ready;
    int refused; /* the code, when its world cannot become complete */
    int failed;  /* the code that ncclCommGetAsyncError answers */
    int connected;  /* its first operation has been started */
    int connecting; /* that operation is not on its stream yet */
    int aborted;
    int closing;   /* ncclCommDestroy has begun */
    int finalized; /* no new operation may be started */
    int departures; /* ranks that have left while this one was there */
    int in_flight; /* operations that were launched and still hold their buffers */
    uint64_t collectives;
    uint64_t *sends; /* per peer, messages so far */
    uint64_t *receives;
    int remote; /* its world is in another process */
    Wire *wire; /* to there; NULL when the connection has ended */
    uint64_t tickets;
    Part *pending;
    atomic_int entries; /* calls that are inside now */
} Comm;

/* What ncclCommInitRank and its relatives are told. */
typedef struct {
    UniqueId id;
    int size;
    int rank;
    int device;
    int blocking;
} Opening;

/* Checks, joins the world and publishes a handle; does not wait for the other ranks. Retained for the caller. */
int comm_open(const char *function, const Opening *opening, Comm **opened);
/* Waits for the other ranks; the code if the world was refused or the communicator aborted meanwhile. */
int comm_wait_ready(Comm *comm);
/* What ncclCommGetAsyncError answers. world_lock is held. */
int comm_state(const Comm *comm);
/*
 * As ncclCommEnsureReady in NCCL's src/init.cc: OK, or 4 while the communicator is at something, or the code with which
 * it failed before.
 */
int comm_check_ready(const char *function, Comm *comm);
/* Withdraws the handle and leaves the world. The caller's reference stays. */
void comm_close(Comm *comm, Leaving leaving);
void comm_release(Comm *comm);

/* The communicator of a handle for the time of one call, retained; NULL with the last error set. */
Comm *comm_enter(const char *function, void *handle);
/* The same for a call that may come from any thread at any time: it is not counted as being inside. */
Comm *comm_find(const char *function, void *handle);
void comm_exit(Comm *comm);

/*
 * If ranks of other processes meet only here, waits a moment for them to leave: this process may be about to exit.
 * world_lock is held.
 */
void comm_serve_visitors(Comm *comm);

/*
 * After an abort: waits until no operation holds its buffers any more. Usually at once; one whose stream is held
 * up by something else, an event for example, is left behind after a second. world_lock is held.
 */
void comm_await_end(Comm *comm);

/* world_lock is held. */
void comm_post(Comm *comm, Part *part);
void comm_withdraw(Comm *comm, Part *part);
uint64_t comm_next_sequence(Comm *comm, const Request *request);

#endif
