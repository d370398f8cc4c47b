/* The driver's own words: checks that name what they expected, and one rank with its device, stream and buffers. */
#ifndef DRIVER_H
#define DRIVER_H

#include "api.h"

/* Says what was wrong and makes the driver end with 1. */
void expect(int64_t found, int64_t expected, const char *what, ...) __attribute__((format(printf, 3, 4)));
int failures(void);

enum { BUFFER_BYTES = 4096 };

/* One rank. Its three buffers are all BUFFER_BYTES long. */
typedef struct {
    int rank;
    int size;
    void *comm;
    void *stream;
    void *send;    /* device */
    void *receive; /* device */
    char *host;
} Rank;

/* Takes device, stream and buffers; joins the world. */
void rank_open(Rank *self, const UniqueId *id, int rank, int size);
void rank_close(Rank *self);
/* Frees everything but the communicator. */
void rank_free(Rank *self);
/* The host buffer onto the device's send buffer; the device's receive buffer into the host buffer, after a wait. */
void rank_upload(Rank *self, size_t bytes);
void rank_download(Rank *self, size_t bytes);

/* Runs `body` on `size` threads, one per rank of one world, and waits for them. */
void on_threads(int size, void (*body)(Rank *self));

/* Waits up to five seconds until `condition` holds; expect()s it. */
void until(int (*condition)(void *), void *context, const char *what);
int nothing_is_live(void *unused);
int no_thread_runs(void *unused);

/* The parts of the check. */
void check_arithmetic(Rank *self);
void check_data_movement(Rank *self);
void check_runtime(void);
void check_failures(void);
void check_processes(const char *program);
int run_as_process(int argc, char **argv);

#endif
