/*
 * A connection between two processes of one world. Sending never waits; one thread per connection moves the bytes and
 * calls back. The root's process is at one end, a rank of another process at the other.
 */
#ifndef WIRE_H
#define WIRE_H

#include "nccl.h"
#include "request.h"

typedef enum {
    HELLO = 1,    /* rank to root: Hello */
    POST,         /* rank to root: request and ticket, what the rank sends */
    WITHDRAW,     /* rank to root: ticket */
    GOODBYE,      /* rank to root: value is a Leaving */
    NEWS,         /* root to rank: value is a Notice, with its code */
    RESULT        /* root to rank: ticket, what the rank receives */
} MessageKind;

/* Goes before every message. Both ends are the same program on the same machine: the struct travels as it is. */
typedef struct {
    int32_t kind;
    int32_t value;
    int32_t code;
    int32_t unused;
    uint64_t ticket; /* which operation of this connection */
    Request request;
    uint64_t bytes; /* that follow */
} Message;

typedef struct {
    UniqueId id;
    int32_t size;
    int32_t rank;
    int32_t device;
    int32_t unused;
    uint64_t host;
} Hello;

typedef struct Wire Wire;

typedef struct {
    /* A message has come. Anything but 0 ends the connection. */
    int (*received)(void *context, const Message *message, const char *content);
    /* The connection has ended, from either side; called once, and the wire is gone afterwards. */
    void (*ended)(void *context);
} WireHandler;

/* Takes over the socket. Nothing is received before wire_start. */
Wire *wire_open(int socket, const WireHandler *handler, void *context);
void wire_start(Wire *wire);
/* May be called from any thread until `ended` has been called. */
void wire_send(Wire *wire, Message message, const void *content);
/* Ends the connection when everything is sent, or after a second. */
void wire_close(Wire *wire);

#endif
