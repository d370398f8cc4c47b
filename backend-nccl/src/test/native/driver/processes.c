/*
 * Ranks as processes. Every rank is this program again, as: driver rank SCENE RANK SIZE [ID]. Rank 0 makes the id,
 * writes it to its standard output, and the others get it as an argument in hexadecimal.
 */
#define _GNU_SOURCE
#include "driver.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 3, COUNT = 4, INVALID_USAGE = 5, REMOTE_ERROR = 6, HEX_BYTES = 2 * sizeof(UniqueId) };

/* ---- in a rank ---- */

static void parse_id(const char *hex, UniqueId *id)
{
    for (size_t i = 0; i < sizeof id->bytes; i++) {
        unsigned byte = 0;
        sscanf(hex + 2 * i, "%2x", &byte);
        id->bytes[i] = (unsigned char) byte;
    }
}

static void print_id(const UniqueId *id)
{
    for (size_t i = 0; i < sizeof id->bytes; i++) {
        printf("%02x", id->bytes[i]);
    }
    fflush(stdout);
}

static int async_error(void *comm)
{
    int code = -1;
    expect(ncclCommGetAsyncError(comm, &code), 0, "async error");
    return code;
}

static int has_remote_error(void *comm)
{
    return async_error(comm) == REMOTE_ERROR;
}

static int all_reduce(Rank *self)
{
    return ncclAllReduce(self->send, self->receive, COUNT, INT32, SUM, self->comm, self->stream);
}

static void scene_collectives(Rank *self)
{
    check_arithmetic(self);
    check_data_movement(self);
    rank_close(self);
}

/* Waits until every other rank is in an operation that cannot end without this one. */
static void await_stuck_others(Rank *self)
{
    for (int rank = 0; rank < self->size; rank++) {
        if (rank != self->rank) {
            expect(ncclRecv(self->receive, 1, INT32, rank, self->comm, self->stream), 0, "word from rank %d", rank);
        }
    }
    expect(cudaStreamSynchronize(self->stream), 0, "wait for the others");
}

/* Tells that rank, and is then in an operation that cannot end without it: one group, so that both have begun. */
static void get_stuck_without(Rank *self, int missing)
{
    expect(ncclGroupStart(), 0, "start");
    expect(ncclSend(self->send, 1, INT32, missing, self->comm, self->stream), 0, "word to the missing rank");
    expect(all_reduce(self), 0, "all-reduce without the missing rank");
    expect(ncclGroupEnd(), 0, "end");
    until(has_remote_error, self->comm, "remote error");
    expect(all_reduce(self), REMOTE_ERROR, "what comes after that is refused");
    expect(cudaStreamQuery(self->stream), 600, "the operation hangs");
}

/* This rank is killed in the middle of the others' operation; they see it, and an abort frees them. */
static void scene_killed(Rank *self, int victim)
{
    expect(all_reduce(self), 0, "all-reduce");
    expect(cudaStreamSynchronize(self->stream), 0, "wait");
    if (self->rank == victim) {
        await_stuck_others(self);
        raise(SIGKILL);
    }
    get_stuck_without(self, victim);
    expect(ncclCommAbort(self->comm), 0, "abort");
    rank_free(self);
}

/* Rank 1 aborts; with STANDIN_REMOTE_ERRORS=1 the others see that. */
static void scene_aborted(Rank *self)
{
    if (self->rank == 1) {
        await_stuck_others(self);
    } else {
        get_stuck_without(self, 1);
    }
    expect(ncclCommAbort(self->comm), 0, "abort");
    rank_free(self);
}

/* Rank 1 asks for another count: all of them learn it, the last one perhaps before it has asked. */
static void scene_mismatch(Rank *self)
{
    size_t count = self->rank == 1 ? COUNT - 1 : COUNT;
    int code = ncclAllReduce(self->send, self->receive, count, INT32, SUM, self->comm, self->stream);
    expect(code == 0 || code == INVALID_USAGE, 1, "answer %d", code);
    for (int tries = 0; tries < 1000 && async_error(self->comm) == 0; tries++) {
        usleep(2000);
    }
    expect(async_error(self->comm), INVALID_USAGE, "mismatch");
    expect(ncclCommAbort(self->comm), 0, "abort");
    rank_free(self);
}

static void play(const char *scene, Rank *self)
{
    if (strcmp(scene, "collectives") == 0) {
        scene_collectives(self);
    } else if (strcmp(scene, "killed") == 0) {
        scene_killed(self, RANKS - 1);
    } else if (strcmp(scene, "root-killed") == 0) {
        scene_killed(self, 0);
    } else if (strcmp(scene, "aborted") == 0) {
        scene_aborted(self);
    } else {
        scene_mismatch(self);
    }
}

int run_as_process(int argc, char **argv)
{
    UniqueId id;
    Rank self = {0};
    if (argc < 6) {
        expect(ncclGetUniqueId(&id), 0, "unique id");
        print_id(&id);
    } else {
        parse_id(argv[5], &id);
    }
    rank_open(&self, &id, atoi(argv[3]), atoi(argv[4]));
    play(argv[2], &self);
    until(nothing_is_live, NULL, "nothing is live");
    until(no_thread_runs, NULL, "no thread is left");
    expect(standInMisuse(), 0, "misuses");
    return failures() == 0 ? 0 : 1;
}

/* ---- in the parent ---- */

/* Starts a rank; its standard output goes to `output` unless that is -1. */
static pid_t start_rank(const char *program, const char *scene, int rank, const char *id, int output)
{
    pid_t child = fork();
    if (child != 0) {
        return child;
    }
    char rank_text[12];
    char size_text[12];
    snprintf(rank_text, sizeof rank_text, "%d", rank);
    snprintf(size_text, sizeof size_text, "%d", RANKS);
    if (output >= 0) {
        dup2(output, STDOUT_FILENO);
    }
    execl(program, program, "rank", scene, rank_text, size_text, id, (char *) NULL);
    _exit(127);
}

static int read_id(int from, char *hex)
{
    size_t have = 0;
    while (have < HEX_BYTES) {
        ssize_t got = read(from, hex + have, HEX_BYTES - have);
        if (got <= 0) {
            return 0;
        }
        have += (size_t) got;
    }
    hex[have] = '\0';
    return 1;
}

static void expect_end(pid_t child, const char *scene, int rank, int victim)
{
    int status = -1;
    waitpid(child, &status, 0);
    if (rank == victim) {
        expect(WIFSIGNALED(status) ? WTERMSIG(status) : -1, SIGKILL, "%s: end of the killed rank", scene);
    } else {
        expect(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0, "%s: exit of rank %d", scene, rank);
    }
}

/* Plays the scene with three processes. `victim` is the rank that gets killed, or -1. */
static void play_scene(const char *program, const char *scene, int victim)
{
    int ends[2];
    char hex[HEX_BYTES + 1];
    pid_t children[RANKS];
    if (pipe(ends) != 0) {
        expect(1, 0, "pipe");
        return;
    }
    children[0] = start_rank(program, scene, 0, NULL, ends[1]);
    close(ends[1]);
    int have_id = read_id(ends[0], hex);
    expect(have_id, 1, "%s: id from rank 0", scene);
    for (int rank = 1; rank < RANKS && have_id; rank++) {
        children[rank] = start_rank(program, scene, rank, hex, -1);
    }
    close(ends[0]);
    for (int rank = 0; rank < (have_id ? RANKS : 1); rank++) {
        expect_end(children[rank], scene, rank, victim);
    }
}

void check_processes(const char *program)
{
    play_scene(program, "collectives", -1);
    play_scene(program, "killed", RANKS - 1);
    play_scene(program, "root-killed", 0);
    play_scene(program, "mismatch", -1);
    setenv("STANDIN_REMOTE_ERRORS", "1", 1);
    play_scene(program, "aborted", -1);
    unsetenv("STANDIN_REMOTE_ERRORS");
}
