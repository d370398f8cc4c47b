/* The collectives that only move data, and messages. */
#include "driver.h"

#include <string.h>

enum { COUNT = 3 };

/* The number that rank r sends at index i. */
static int32_t mark_of(int rank, int index)
{
    return 1000 * (rank + 1) + index;
}

static void fill(Rank *self, int count)
{
    for (int i = 0; i < count; i++) {
        int32_t mark = mark_of(self->rank, i);
        memcpy(self->host + 4 * i, &mark, 4);
    }
    rank_upload(self, (size_t) (4 * count));
}

static void expect_mark(const Rank *self, int index, int from, int at, const char *call)
{
    int32_t found;
    memcpy(&found, self->host + 4 * index, 4);
    expect(found, mark_of(from, at), "%s on rank %d, element %d", call, self->rank, index);
}

static void check_broadcast(Rank *self)
{
    int root = self->size - 1;
    fill(self, COUNT);
    expect(ncclBroadcast(self->send, self->receive, COUNT, INT32, root, self->comm, self->stream), 0, "broadcast");
    rank_download(self, 4 * COUNT);
    for (int i = 0; i < COUNT; i++) {
        expect_mark(self, i, root, i, "broadcast");
    }
}

static void check_gathers(Rank *self)
{
    fill(self, COUNT);
    expect(ncclAllGather(self->send, self->receive, COUNT, INT32, self->comm, self->stream), 0, "all-gather");
    rank_download(self, (size_t) (4 * COUNT * self->size));
    for (int i = 0; i < COUNT * self->size; i++) {
        expect_mark(self, i, i / COUNT, i % COUNT, "all-gather");
    }
    expect(ncclGather(self->send, self->receive, COUNT, INT32, 0, self->comm, self->stream), 0, "gather");
    rank_download(self, (size_t) (4 * COUNT * self->size));
    for (int i = 0; i < COUNT * self->size && self->rank == 0; i++) {
        expect_mark(self, i, i / COUNT, i % COUNT, "gather");
    }
}

static void check_scatters(Rank *self)
{
    int root = self->size - 1;
    fill(self, COUNT * self->size);
    expect(ncclScatter(self->send, self->receive, COUNT, INT32, root, self->comm, self->stream), 0, "scatter");
    rank_download(self, 4 * COUNT);
    for (int i = 0; i < COUNT; i++) {
        expect_mark(self, i, root, COUNT * self->rank + i, "scatter");
    }
    expect(ncclAlltoAll(self->send, self->receive, COUNT, INT32, self->comm, self->stream), 0, "all-to-all");
    rank_download(self, (size_t) (4 * COUNT * self->size));
    for (int i = 0; i < COUNT * self->size; i++) {
        expect_mark(self, i, i / COUNT, COUNT * self->rank + i % COUNT, "all-to-all");
    }
}

/* Everybody sends to the right and to itself, and receives from the left: blocks unless the group runs as one. */
static void check_messages(Rank *self)
{
    int right = (self->rank + 1) % self->size;
    int left = (self->rank + self->size - 1) % self->size;
    char *receive = self->receive;
    fill(self, COUNT);
    expect(ncclGroupStart(), 0, "group start");
    expect(ncclSend(self->send, COUNT, INT32, right, self->comm, self->stream), 0, "send");
    expect(ncclSend(self->send, COUNT, INT32, self->rank, self->comm, self->stream), 0, "send to itself");
    expect(ncclRecv(receive, COUNT, INT32, left, self->comm, self->stream), 0, "receive");
    expect(ncclRecv(receive + 4 * COUNT, COUNT, INT32, self->rank, self->comm, self->stream), 0, "from itself");
    expect(ncclGroupEnd(), 0, "group end");
    rank_download(self, 4 * COUNT * 2);
    for (int i = 0; i < COUNT; i++) {
        expect_mark(self, i, left, i, "ring");
        expect_mark(self, COUNT + i, self->rank, i, "message to itself");
    }
}

/* Even and odd ranks part; inside, the order is turned round. */
static void check_split(Rank *self)
{
    void *half = NULL;
    int rank = -1;
    int size = -1;
    expect(ncclCommSplit(self->comm, self->rank % 2, -self->rank, &half, NULL), 0, "split");
    expect(ncclCommUserRank(half, &rank), 0, "rank in the half");
    expect(ncclCommCount(half, &size), 0, "size of the half");
    int expected_size = (self->size + 1 - self->rank % 2) / 2;
    expect(size, expected_size, "size of the half of rank %d", self->rank);
    expect(rank, expected_size - 1 - self->rank / 2, "new rank of rank %d", self->rank);
    fill(self, COUNT);
    expect(ncclBroadcast(self->send, self->receive, COUNT, INT32, size - 1, half, self->stream), 0, "in the half");
    rank_download(self, 4 * COUNT);
    expect_mark(self, 0, self->rank % 2, 0, "broadcast in the half");
    expect(ncclCommDestroy(half), 0, "destroy half");
}

void check_data_movement(Rank *self)
{
    check_broadcast(self);
    check_gathers(self);
    check_scatters(self);
    check_messages(self);
    check_split(self);
}
