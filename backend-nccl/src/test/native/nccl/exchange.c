/* Moving the data of one operation, once all its parts are there. */
#include "world.h"

#include "identity.h"
#include "numbers.h"

#include <stdlib.h>
#include <string.h>

/* ---- reductions ---- */

static void reduce_parts(Part *const *parts, int size)
{
    const Request *request = &parts[0]->request;
    size_t count = request->kind == REDUCE_SCATTER ? request->count * (size_t) size : request->count;
    const char **sources = core_allocate((size_t) size * sizeof *sources);
    for (int rank = 0; rank < size; rank++) {
        sources[rank] = parts[rank]->send;
    }
    char *result = core_allocate(count * type_bytes(request->type));
    reduce_elements(request->type, request->op, sources, size, count, result);
    for (int rank = 0; rank < size; rank++) {
        size_t bytes = request_receives(request, size, rank);
        size_t offset = request->kind == REDUCE_SCATTER ? (size_t) rank * bytes : 0;
        if (bytes > 0) {
            memcpy(parts[rank]->receive, result + offset, bytes);
        }
    }
    free(result);
    free(sources);
}

/* ---- copies: gathered first, because a rank's two buffers may be the same ---- */

/* All that is sent, rank after rank. */
static char *gather_sent(Part *const *parts, int size)
{
    size_t total = 0;
    for (int rank = 0; rank < size; rank++) {
        total += request_sends(&parts[0]->request, size, rank);
    }
    char *sent = core_allocate(total);
    char *next = sent;
    for (int rank = 0; rank < size; rank++) {
        size_t bytes = request_sends(&parts[0]->request, size, rank);
        if (bytes > 0) {
            memcpy(next, parts[rank]->send, bytes);
        }
        next += bytes;
    }
    return sent;
}

/* Rank r gets the r-th block of what every rank sent. */
static void deal_out(Part *const *parts, int size, const char *sent, size_t block)
{
    for (int to = 0; to < size; to++) {
        for (int from = 0; from < size; from++) {
            size_t offset = ((size_t) from * (size_t) size + (size_t) to) * block;
            memcpy(parts[to]->receive + (size_t) from * block, sent + offset, block);
        }
    }
}

static void copy_parts(Part *const *parts, int size)
{
    const Request *request = &parts[0]->request;
    size_t block = request->count * type_bytes(request->type);
    char *sent = gather_sent(parts, size);
    if (request->kind == ALL_TO_ALL) {
        deal_out(parts, size, sent, block);
    } else {
        for (int rank = 0; rank < size; rank++) {
            size_t bytes = request_receives(request, size, rank);
            size_t offset = request->kind == SCATTER ? (size_t) rank * block : 0;
            if (bytes > 0) {
                memcpy(parts[rank]->receive, sent + offset, bytes);
            }
        }
    }
    free(sent);
}

/* ---- splits ---- */

static SplitQuestion question_of(const Part *part)
{
    SplitQuestion question;
    memcpy(&question, part->send, sizeof question);
    return question;
}

/* Does `other` come before `rank` in their new group? By key, then by old rank. */
static int comes_before(Part *const *parts, int other, int rank)
{
    int other_key = question_of(parts[other]).key;
    int key = question_of(parts[rank]).key;
    return other_key < key || (other_key == key && other < rank);
}

static SplitAnswer answer_for(Part *const *parts, int size, int rank, const UniqueId *ids)
{
    SplitAnswer answer = {0};
    int color = question_of(parts[rank]).color;
    int first = size;
    for (int other = size - 1; other >= 0 && color >= 0; other--) {
        if (question_of(parts[other]).color == color) {
            answer.size++;
            answer.rank += comes_before(parts, other, rank);
            first = other;
        }
    }
    if (answer.size > 0) {
        memcpy(answer.id, ids[first].bytes, sizeof answer.id);
    }
    return answer;
}

/* The lowest old rank of each group lends its place in `ids` to the group's id. */
static void split_parts(Part *const *parts, int size)
{
    UniqueId *ids = core_allocate((size_t) size * sizeof *ids);
    for (int rank = 0; rank < size; rank++) {
        int first = question_of(parts[rank]).color >= 0;
        for (int lower = 0; lower < rank; lower++) {
            first = first && question_of(parts[lower]).color != question_of(parts[rank]).color;
        }
        if (first) {
            identity_make(&ids[rank]);
        }
    }
    for (int rank = 0; rank < size; rank++) {
        SplitAnswer answer = answer_for(parts, size, rank, ids);
        memcpy(parts[rank]->receive, &answer, sizeof answer);
    }
    free(ids);
}

void exchange(Part *const *parts, int count)
{
    const Request *request = &parts[0]->request;
    if (request_is_message(request)) {
        size_t bytes = request->count * type_bytes(request->type);
        if (bytes > 0) {
            memmove(parts[1]->receive, parts[0]->send, bytes);
        }
    } else if (request_reduces(request)) {
        reduce_parts(parts, count);
    } else if (request->kind == SPLIT) {
        split_parts(parts, count);
    } else {
        copy_parts(parts, count);
    }
}
