/* A rank whose root is another process. */
#define _GNU_SOURCE
#include "link.h"

#include "wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- from the root ---- */

static Part *take_pending(Comm *comm, uint64_t ticket)
{
    Part **place = &comm->pending;
    while (*place != NULL && (*place)->ticket != ticket) {
        place = &(*place)->next_pending;
    }
    Part *part = *place;
    if (part != NULL) {
        *place = part->next_pending;
    }
    return part;
}

/* A result that nobody waits for any more is dropped. */
static int finish(Comm *comm, const Message *message, const char *content)
{
    Part *part = take_pending(comm, message->ticket);
    if (part == NULL) {
        return 0;
    }
    size_t bytes = request_receives(&part->request, comm->size, comm->rank);
    if (message->bytes != bytes) {
        return 1;
    }
    if (bytes > 0) {
        memcpy(part->receive, content, bytes);
    }
    part->done = 1;
    part->finished(part);
    return 0;
}

static int received(void *context, const Message *message, const char *content)
{
    Comm *comm = context;
    int refused = 0;
    pthread_mutex_lock(&world_lock);
    if (message->kind == NEWS) {
        comm->member.notify(&comm->member, (Notice) message->value, message->code);
    } else if (message->kind == RESULT) {
        refused = finish(comm, message, content);
    } else {
        refused = 1;
    }
    pthread_mutex_unlock(&world_lock);
    return refused;
}

/* What was pending stays so, as an operation of NCCL whose peer is gone: until somebody aborts. */
static void ended(void *context)
{
    Comm *comm = context;
    pthread_mutex_lock(&world_lock);
    if (comm->wire != NULL) {
        comm->wire = NULL;
        if (!comm->ready || !atomic_load(&nccl_settings.silent_deaths)) {
            comm->member.notify(&comm->member, comm->ready ? FAILED : REFUSED, NCCL_REMOTE_ERROR);
        }
    }
    pthread_mutex_unlock(&world_lock);
    comm_release(comm);
}

/* ---- to the root ---- */

static int connect_to(uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int opened = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (opened >= 0 && connect(opened, (struct sockaddr *) &address, sizeof address) != 0) {
        close(opened);
        return -1;
    }
    return opened;
}

int link_join(Comm *comm, const Opening *opening, uint16_t port)
{
    static const WireHandler handler = {received, ended};
    int connected = connect_to(port);
    if (connected < 0) {
        return nccl_fail(NCCL_SYSTEM_ERROR, "Init : the root of this unique id does not answer at 127.0.0.1:%d : %s",
                         port, strerror(errno));
    }
    Hello hello = {.id = opening->id, .size = opening->size, .rank = opening->rank, .device = opening->device,
                   .host = comm->member.host};
    core_retain(&comm->object);
    comm->wire = wire_open(connected, &handler, comm);
    wire_send(comm->wire, (Message){.kind = HELLO, .bytes = sizeof hello}, &hello);
    wire_start(comm->wire);
    return NCCL_OK;
}

void link_leave(Comm *comm, Leaving leaving)
{
    if (comm->wire != NULL) {
        wire_send(comm->wire, (Message){.kind = GOODBYE, .value = leaving}, NULL);
        wire_close(comm->wire);
        comm->wire = NULL;
    }
}

void link_post(Comm *comm, Part *part)
{
    if (comm->wire == NULL) {
        return;
    }
    part->ticket = ++comm->tickets;
    part->next_pending = comm->pending;
    comm->pending = part;
    Message message = {.kind = POST, .ticket = part->ticket, .request = part->request};
    message.bytes = request_sends(&part->request, comm->size, comm->rank);
    wire_send(comm->wire, message, part->send);
}

void link_withdraw(Comm *comm, Part *part)
{
    Part *pending = take_pending(comm, part->ticket);
    if (pending != NULL && comm->wire != NULL) {
        wire_send(comm->wire, (Message){.kind = WITHDRAW, .ticket = part->ticket}, NULL);
    }
}
