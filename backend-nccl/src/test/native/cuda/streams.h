/* Inside of streams.c, for the functions of the runtime that stand on it. */
#ifndef STREAMS_H
#define STREAMS_H

#include "cuda.h"

enum { MAX_COLLECTED = 1024 };

typedef struct {
    int device;
    int count;
    Stream *streams[MAX_COLLECTED + 1];
} StreamList;

/* A new stream's handle. Flag 1: it keeps no order with the default stream. */
void *stream_open(int device, unsigned flags);
/* Takes the handle back; what is on the stream still runs. */
int stream_close(void *handle);
int stream_busy(Stream *stream);
/* All streams of a device, the default one included, retained. */
void streams_of(int device, StreamList *list);

#endif
