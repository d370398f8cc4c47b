/* Worlds, who is in them, and the meetings of their operations. */
#include "world.h"

#include "root.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The place where the parts of one operation come together. */
struct Meeting {
    World *world;
    int source; /* of a message; NO_PEER for a collective */
    int target;
    uint64_t sequence;
    int needed;
    int arrived;
    int dead; /* can never be complete */
    int differs; /* its parts are different operations, which are then cut to size */
    Part **parts;
    Meeting *next;
};

struct World {
    UniqueId id;
    int size; /* 0: nobody joined yet */
    int joined;
    int present;
    int refused; /* the code, when it cannot become complete */
    Member **members;
    Meeting *meetings;
    size_t unread; /* bytes of an operation that all have passed but not all have read */
    time_t opened;
    World *next;
};

enum { UNUSED_SECONDS = 60 };

pthread_mutex_t world_lock = PTHREAD_MUTEX_INITIALIZER;
static World *worlds;

/* ---- worlds ---- */

static time_t seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

void world_open(const UniqueId *id)
{
    World *world = core_allocate(sizeof *world);
    world->id = *id;
    world->opened = seconds_now();
    world->next = worlds;
    worlds = world;
}

World *world_find(const UniqueId *id)
{
    World *world = worlds;
    while (world != NULL && memcmp(&world->id, id, sizeof *id) != 0) {
        world = world->next;
    }
    return world;
}

int world_size(const World *world)
{
    return world->size;
}

static void free_part_left_behind(Part *part)
{
    free((char *) part->send);
    free(part->receive);
    free(part);
}

static void free_meeting(Meeting *meeting)
{
    for (int i = 0; i < meeting->needed; i++) {
        if (meeting->parts[i] != NULL && meeting->parts[i]->left_behind) {
            free_part_left_behind(meeting->parts[i]);
        }
    }
    free(meeting->parts);
    free(meeting);
}

static void free_world(World *world)
{
    while (world->meetings != NULL) {
        Meeting *meeting = world->meetings;
        world->meetings = meeting->next;
        free_meeting(meeting);
    }
    free(world->members);
    free(world);
}

static void remove_world(World *world)
{
    World **place = &worlds;
    while (*place != world) {
        place = &(*place)->next;
    }
    *place = world->next;
    free_world(world);
    if (worlds == NULL) {
        root_may_stop();
    }
}

int worlds_sweep(void)
{
    time_t now = seconds_now();
    World *world = worlds;
    while (world != NULL) {
        World *next = world->next;
        if (world->size == 0 && now - world->opened >= UNUSED_SECONDS) {
            remove_world(world);
        }
        world = next;
    }
    return worlds != NULL;
}

/* ---- members ---- */

static void tell_all(World *world, const Member *except, Notice notice, int code)
{
    for (int rank = 0; rank < world->size; rank++) {
        Member *member = world->members[rank];
        if (member != NULL && member != except) {
            member->notify(member, notice, code);
        }
    }
}

static int refuse(World *world, int code)
{
    world->refused = code;
    tell_all(world, NULL, REFUSED, code);
    return code;
}

/* The member that sits on the same device of the same machine, or NULL. */
static const Member *same_device(const World *world, const Member *member)
{
    for (int rank = 0; rank < world->size; rank++) {
        const Member *other = world->members[rank];
        if (other != NULL && other->device == member->device && other->host == member->host) {
            return other;
        }
    }
    return NULL;
}

static int check_join(World *world, const Member *member, int size)
{
    if (world->refused != NCCL_OK) {
        return nccl_fail(world->refused, "Init : another rank of this world was refused");
    }
    if (world->joined == world->size) {
        return nccl_fail(NCCL_SYSTEM_ERROR, "Init : this unique id was already used by all its ranks");
    }
    if (size != world->size) {
        return nccl_fail(refuse(world, NCCL_INVALID_ARGUMENT), "Init : rank %d says %d ranks, others say %d",
                         member->rank, size, world->size);
    }
    if (world->members[member->rank] != NULL) {
        return nccl_fail(refuse(world, NCCL_INVALID_ARGUMENT), "Init : rank %d joined twice", member->rank);
    }
    const Member *other = same_device(world, member);
    if (other != NULL && !atomic_load(&nccl_settings.allow_duplicates)) {
        return nccl_fail(refuse(world, NCCL_INVALID_USAGE),
                         "Duplicate GPU detected : rank %d and rank %d both on device %d", member->rank, other->rank,
                         member->device);
    }
    return NCCL_OK;
}

int world_join(World *world, Member *member, int size)
{
    if (world->size == 0) {
        world->size = size;
        world->members = core_allocate((size_t) size * sizeof(Member *));
    }
    int code = check_join(world, member, size);
    if (code != NCCL_OK) {
        return code;
    }
    world->members[member->rank] = member;
    member->world = world;
    world->joined++;
    world->present++;
    if (world->joined == world->size) {
        tell_all(world, NULL, ALL_HERE, NCCL_OK);
    }
    return NCCL_OK;
}

/* Nobody is left to complete what this rank has begun. */
static void withdraw_all(World *world, int rank)
{
    for (Meeting *meeting = world->meetings; meeting != NULL; meeting = meeting->next) {
        for (int i = 0; i < meeting->needed; i++) {
            Part *part = meeting->parts[i];
            if (part != NULL && part->rank == rank) {
                world_withdraw(part);
                if (part->left_behind) {
                    free_part_left_behind(part);
                }
            }
        }
    }
}

void world_leave(Member *member, Leaving leaving)
{
    World *world = member->world;
    if (world == NULL) {
        return;
    }
    member->world = NULL;
    withdraw_all(world, member->rank);
    world->members[member->rank] = NULL;
    world->present--;
    int complete = world->joined == world->size;
    if (!complete) {
        world->joined--;
    }
    int visible = (leaving == LEFT_BY_DEATH && !atomic_load(&nccl_settings.silent_deaths)) ||
                  (leaving == LEFT_BY_ABORT && atomic_load(&nccl_settings.remote_errors));
    if (visible && complete) {
        tell_all(world, member, FAILED, NCCL_REMOTE_ERROR);
    } else if (visible && world->refused == NCCL_OK) {
        refuse(world, NCCL_REMOTE_ERROR);
    }
    if (world->present == 0) {
        remove_world(world);
    } else {
        tell_all(world, NULL, ONE_LEFT, NCCL_OK);
    }
}

int world_only_visitors_but(const Member *member)
{
    const World *world = member->world;
    int visitors = 0;
    for (int rank = 0; world != NULL && rank < world->size; rank++) {
        const Member *other = world->members[rank];
        if (other != NULL && other != member && !other->visiting) {
            return 0;
        }
        visitors += other != NULL && other->visiting;
    }
    return visitors > 0;
}

/* ---- meetings ---- */

static Meeting *new_meeting(World *world, int source, int target, uint64_t sequence)
{
    Meeting *meeting = core_allocate(sizeof *meeting);
    meeting->world = world;
    meeting->source = source;
    meeting->target = target;
    meeting->sequence = sequence;
    meeting->needed = source == NO_PEER ? world->size : 2;
    meeting->parts = core_allocate((size_t) meeting->needed * sizeof(Part *));
    meeting->next = world->meetings;
    world->meetings = meeting;
    return meeting;
}

static Meeting *meeting_for(World *world, const Part *part)
{
    int message = request_is_message(&part->request);
    int sending = part->request.kind == SEND;
    int source = !message ? NO_PEER : sending ? part->rank : part->request.peer;
    int target = !message ? NO_PEER : sending ? part->request.peer : part->rank;
    for (Meeting *meeting = world->meetings; meeting != NULL; meeting = meeting->next) {
        if (meeting->source == source && meeting->target == target && meeting->sequence == part->request.sequence) {
            return meeting;
        }
    }
    return new_meeting(world, source, target, part->request.sequence);
}

static void remove_meeting(Meeting *meeting)
{
    Meeting **place = &meeting->world->meetings;
    while (*place != meeting) {
        place = &(*place)->next;
    }
    *place = meeting->next;
    free_meeting(meeting);
}

static int all_agree(const Meeting *meeting, const Part *part)
{
    for (int i = 0; i < meeting->needed; i++) {
        if (meeting->parts[i] != NULL && !requests_agree(&meeting->parts[i]->request, &part->request)) {
            return 0;
        }
    }
    return 1;
}

static void finish(Part *part)
{
    part->done = 1;
    part->meeting = NULL;
    part->finished(part);
}

static void complete_meeting(Meeting *meeting)
{
    exchange(meeting->parts, meeting->needed);
    for (int i = 0; i < meeting->needed; i++) {
        Part *part = meeting->parts[i];
        if (!part->left_behind) {
            /* whoever owns it may free it now */
            meeting->parts[i] = NULL;
            finish(part);
        }
    }
    remove_meeting(meeting);
}

/* ---- early returns ---- */

/* Has this rank all that the operation gives it, once its own data is handed on? */
static int has_all(const Meeting *meeting, const Part *part)
{
    const Request *request = &part->request;
    switch (request->kind) {
    case SEND:
        return 1;
    case REDUCE:
    case GATHER:
        return part->rank != request->peer;
    case BROADCAST:
    case SCATTER:
        return meeting->parts[request->peer] != NULL;
    default:
        return 0;
    }
}

static void take_from_root(const Meeting *meeting, const Part *part)
{
    const Request *request = &part->request;
    size_t bytes = request_receives(request, meeting->needed, part->rank);
    size_t offset = request->kind == SCATTER ? (size_t) part->rank * bytes : 0;
    if (bytes > 0) {
        memmove(part->receive, meeting->parts[request->peer]->send + offset, bytes);
    }
}

/* Lets the rank go; what it gave stays here, in memory that is its communicator's. */
static void step_aside(Meeting *meeting, int slot)
{
    Part *part = meeting->parts[slot];
    int size = meeting->world->size;
    size_t sends = request_sends(&part->request, size, part->rank);
    Part *behind = core_allocate(sizeof *behind);
    behind->request = part->request;
    behind->rank = part->rank;
    behind->left_behind = 1;
    behind->meeting = meeting;
    char *sent = core_allocate(sends);
    if (sends > 0) {
        memcpy(sent, part->send, sends);
    }
    behind->send = sent;
    /* the exchange writes to every rank, also to one that has its result */
    behind->receive = core_allocate(request_receives(&part->request, size, part->rank));
    meeting->parts[slot] = behind;
    finish(part);
}

static void return_early(Meeting *meeting)
{
    for (int slot = 0; slot < meeting->needed; slot++) {
        Part *part = meeting->parts[slot];
        if (part != NULL && !part->left_behind && has_all(meeting, part)) {
            if (part->request.kind == BROADCAST || part->request.kind == SCATTER) {
                take_from_root(meeting, part);
            }
            step_aside(meeting, slot);
        }
    }
}

/* ---- operations that differ, as over NCCL's sockets ---- */

static size_t part_bytes(const Part *part)
{
    return part->request.count * type_bytes(part->request.type);
}

/* The rank goes on with what it has. */
static void finish_wrong(Part *part, int size)
{
    size_t sends = request_sends(&part->request, size, part->rank);
    size_t receives = request_receives(&part->request, size, part->rank);
    size_t bytes = sends < receives ? sends : receives;
    if (bytes > 0) {
        memmove(part->receive, part->send, bytes);
    }
    finish(part);
}

static void truncate_meeting(Meeting *meeting)
{
    World *world = meeting->world;
    size_t most = 0;
    int refused = 0;
    for (int i = 0; i < meeting->needed; i++) {
        size_t bytes = part_bytes(meeting->parts[i]);
        most = bytes > most ? bytes : most;
    }
    for (int i = 0; i < meeting->needed; i++) {
        Part *part = meeting->parts[i];
        if (part_bytes(part) == most) {
            meeting->parts[i] = NULL;
            finish_wrong(part, meeting->needed);
        } else {
            refused++;
            world->members[part->rank]->notify(world->members[part->rank], FAILED, NCCL_INVALID_USAGE);
        }
    }
    meeting->dead = 1;
    world->unread = refused > 0 ? 0 : most;
}

/* Compares the part with those that have come. */
static void check_agreement(Member *member, Meeting *meeting, const Part *part)
{
    int message = request_is_message(&part->request);
    if (!message && meeting->world->unread > part_bytes(part)) {
        meeting->dead = 1;
        member->notify(member, FAILED, NCCL_INVALID_USAGE);
    } else if (!meeting->differs && !all_agree(meeting, part)) {
        meeting->differs = !message && atomic_load(&nccl_settings.mismatch_truncates);
        meeting->dead = !meeting->differs;
        if (meeting->dead && !atomic_load(&nccl_settings.mismatch_hangs)) {
            tell_all(meeting->world, NULL, FAILED, NCCL_INVALID_USAGE);
        }
    }
}

void world_post(Member *member, Part *part)
{
    World *world = member->world;
    if (world == NULL) {
        return;
    }
    Meeting *meeting = meeting_for(world, part);
    int slot = !request_is_message(&part->request) ? part->rank : part->request.kind == RECEIVE;
    if (atomic_load(&nccl_settings.hang) || meeting->parts[slot] != NULL) {
        meeting->dead = 1;
    }
    if (meeting->parts[slot] == NULL) {
        meeting->parts[slot] = part;
        meeting->arrived++;
        part->meeting = meeting;
    }
    if (!meeting->dead) {
        check_agreement(member, meeting, part);
    }
    if (meeting->dead) {
        return;
    } else if (meeting->arrived == meeting->needed && meeting->differs) {
        truncate_meeting(meeting);
    } else if (meeting->arrived == meeting->needed) {
        complete_meeting(meeting);
    } else if (atomic_load(&nccl_settings.early_returns) && !meeting->differs) {
        return_early(meeting);
    }
}

void world_withdraw(Part *part)
{
    Meeting *meeting = part->meeting;
    if (meeting == NULL) {
        return;
    }
    meeting->dead = 1;
    for (int i = 0; i < meeting->needed; i++) {
        if (meeting->parts[i] == part) {
            meeting->parts[i] = NULL;
        }
    }
    part->meeting = NULL;
}
