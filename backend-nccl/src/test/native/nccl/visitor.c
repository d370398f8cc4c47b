/* The root's end of a connection: a rank of another process, as a member of a world here. */
#include "root.h"

#include "wire.h"
#include "world.h"

#include <stdlib.h>
#include <string.h>

typedef struct Visitor Visitor;

/* An operation of that rank: its buffers are copies. */
typedef struct VisitorPart {
    Part part;
    Visitor *visitor;
    uint64_t ticket;
    char *sent;
    struct VisitorPart *next;
} VisitorPart;

/* All of it with world_lock. */
struct Visitor {
    Member member;
    Wire *wire;
    int size;
    VisitorPart *parts;
};

/* ---- to the rank ---- */

static void tell(Member *member, Notice notice, int code)
{
    Visitor *visitor = (Visitor *) member;
    wire_send(visitor->wire, (Message){.kind = NEWS, .value = notice, .code = code}, NULL);
}

static void forget_part(VisitorPart *part)
{
    VisitorPart **place = &part->visitor->parts;
    while (*place != part) {
        place = &(*place)->next;
    }
    *place = part->next;
    free(part->sent);
    free(part->part.receive);
    free(part);
}

static void send_result(Part *part)
{
    VisitorPart *visiting = (VisitorPart *) part;
    Visitor *visitor = visiting->visitor;
    size_t bytes = request_receives(&part->request, visitor->size, part->rank);
    wire_send(visitor->wire, (Message){.kind = RESULT, .ticket = visiting->ticket, .bytes = bytes}, part->receive);
    forget_part(visiting);
}

/* ---- from the rank; world_lock is held ---- */

static int greet(Visitor *visitor, const Message *message, const char *content)
{
    Hello hello;
    if (message->bytes != sizeof hello || visitor->size != 0) {
        return 1;
    }
    memcpy(&hello, content, sizeof hello);
    visitor->size = hello.size;
    visitor->member.rank = hello.rank;
    visitor->member.device = hello.device;
    visitor->member.host = hello.host;
    World *world = world_find(&hello.id);
    int code = world == NULL ? NCCL_SYSTEM_ERROR : world_join(world, &visitor->member, hello.size);
    if (code != NCCL_OK) {
        tell(&visitor->member, REFUSED, code);
    }
    return 0;
}

static int post(Visitor *visitor, const Message *message, const char *content)
{
    if (visitor->member.world == NULL) {
        return 0;
    }
    int rank = visitor->member.rank;
    if (message->bytes != request_sends(&message->request, visitor->size, rank)) {
        return 1;
    }
    VisitorPart *part = core_allocate(sizeof *part);
    part->visitor = visitor;
    part->ticket = message->ticket;
    part->sent = core_allocate(message->bytes);
    memcpy(part->sent, content, message->bytes);
    part->part.request = message->request;
    part->part.rank = rank;
    part->part.send = part->sent;
    part->part.receive = core_allocate(request_receives(&message->request, visitor->size, rank));
    part->part.finished = send_result;
    part->next = visitor->parts;
    visitor->parts = part;
    world_post(&visitor->member, &part->part);
    return 0;
}

static void withdraw(Visitor *visitor, uint64_t ticket)
{
    VisitorPart *part = visitor->parts;
    while (part != NULL && part->ticket != ticket) {
        part = part->next;
    }
    if (part != NULL) {
        world_withdraw(&part->part);
        forget_part(part);
    }
}

static int handle(Visitor *visitor, const Message *message, const char *content)
{
    switch (message->kind) {
    case HELLO:
        return greet(visitor, message, content);
    case POST:
        return post(visitor, message, content);
    case WITHDRAW:
        withdraw(visitor, message->ticket);
        return 0;
    case GOODBYE:
        world_leave(&visitor->member, (Leaving) message->value);
        return 0;
    default:
        return 1;
    }
}

static int received(void *context, const Message *message, const char *content)
{
    pthread_mutex_lock(&world_lock);
    int refused = handle(context, message, content);
    pthread_mutex_unlock(&world_lock);
    return refused;
}

/* A rank that did not say goodbye has died. */
static void ended(void *context)
{
    Visitor *visitor = context;
    pthread_mutex_lock(&world_lock);
    world_leave(&visitor->member, LEFT_BY_DEATH);
    while (visitor->parts != NULL) {
        forget_part(visitor->parts);
    }
    pthread_mutex_unlock(&world_lock);
    free(visitor);
}

void visitor_open(int socket)
{
    static const WireHandler handler = {received, ended};
    Visitor *visitor = core_allocate(sizeof *visitor);
    visitor->member.visiting = 1;
    visitor->member.notify = tell;
    visitor->wire = wire_open(socket, &handler, visitor);
    wire_start(visitor->wire);
}
