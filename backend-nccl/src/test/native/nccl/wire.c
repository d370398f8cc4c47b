/* Connections: two buffers, one thread, one poll. */
#define _GNU_SOURCE
#include "wire.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

struct Wire {
    int socket;
    int wake; /* an eventfd: something to send, or to close */
    WireHandler handler;
    void *context;
    /* used by the wire's thread only */
    Message message;
    size_t arrived; /* bytes of the message and its content */
    char *content;
    /* shared */
    pthread_mutex_t lock;
    char *outgoing;
    size_t outgoing_bytes;
    size_t outgoing_capacity;
    int closing;
};

enum { CLOSING_MILLIS = 1000 };
static const uint64_t LARGEST_CONTENT = (uint64_t) 1 << 32;

/* ---- sending ---- */

static void wake(Wire *wire)
{
    uint64_t one = 1;
    while (write(wire->wake, &one, sizeof one) < 0 && errno == EINTR) {
    }
}

/* The lock is held. */
static void append(Wire *wire, const void *bytes, size_t count)
{
    size_t needed = wire->outgoing_bytes + count;
    if (needed > wire->outgoing_capacity) {
        size_t capacity = 2 * needed;
        char *larger = core_allocate(capacity);
        if (wire->outgoing_bytes > 0) {
            memcpy(larger, wire->outgoing, wire->outgoing_bytes);
        }
        free(wire->outgoing);
        wire->outgoing = larger;
        wire->outgoing_capacity = capacity;
    }
    memcpy(wire->outgoing + wire->outgoing_bytes, bytes, count);
    wire->outgoing_bytes = needed;
}

void wire_send(Wire *wire, Message message, const void *content)
{
    pthread_mutex_lock(&wire->lock);
    append(wire, &message, sizeof message);
    if (message.bytes > 0) {
        append(wire, content, message.bytes);
    }
    pthread_mutex_unlock(&wire->lock);
    wake(wire);
}

void wire_close(Wire *wire)
{
    pthread_mutex_lock(&wire->lock);
    wire->closing = 1;
    pthread_mutex_unlock(&wire->lock);
    wake(wire);
}

/* Writes what the socket takes now; 0 when the connection is broken. */
static int write_some(Wire *wire)
{
    pthread_mutex_lock(&wire->lock);
    ssize_t written = 0;
    if (wire->outgoing_bytes > 0) {
        written = send(wire->socket, wire->outgoing, wire->outgoing_bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    if (written > 0) {
        wire->outgoing_bytes -= (size_t) written;
        memmove(wire->outgoing, wire->outgoing + written, wire->outgoing_bytes);
    }
    int broken = written < 0 && errno != EAGAIN && errno != EINTR;
    pthread_mutex_unlock(&wire->lock);
    return !broken;
}

/* ---- receiving ---- */

/* Where the next bytes go, and how many are missing there: first the message, then its content. */
static char *next_place(Wire *wire, size_t *missing)
{
    if (wire->arrived < sizeof wire->message) {
        *missing = sizeof wire->message - wire->arrived;
        return (char *) &wire->message + wire->arrived;
    }
    size_t arrived_content = wire->arrived - sizeof wire->message;
    *missing = wire->message.bytes - arrived_content;
    return wire->content + arrived_content;
}

/* Hands over what is complete; 0 when the connection must end. */
static int handle_arrived(Wire *wire)
{
    if (wire->arrived < sizeof wire->message) {
        return 1;
    }
    if (wire->content == NULL) {
        if (wire->message.bytes > LARGEST_CONTENT) {
            return 0;
        }
        wire->content = core_allocate(wire->message.bytes);
    }
    if (wire->arrived < sizeof wire->message + wire->message.bytes) {
        return 1;
    }
    int refused = wire->handler.received(wire->context, &wire->message, wire->content);
    free(wire->content);
    wire->content = NULL;
    wire->arrived = 0;
    return refused == 0;
}

/* Reads what the socket has now; 0 at its end. */
static int read_some(Wire *wire)
{
    for (;;) {
        size_t missing;
        char *place = next_place(wire, &missing);
        ssize_t got = recv(wire->socket, place, missing, MSG_DONTWAIT);
        if (got == 0) {
            return 0;
        }
        if (got < 0) {
            return errno == EAGAIN || errno == EINTR;
        }
        wire->arrived += (size_t) got;
        if (!handle_arrived(wire)) {
            return 0;
        }
    }
}

/* ---- the thread ---- */

/* Waits for something to do; 0 when the connection is to be closed and nothing is left to send, or time is up. */
static int wait_for_work(Wire *wire)
{
    pthread_mutex_lock(&wire->lock);
    int sending = wire->outgoing_bytes > 0;
    int closing = wire->closing;
    pthread_mutex_unlock(&wire->lock);
    if (closing && !sending) {
        return 0;
    }
    struct pollfd watched[] = {{wire->socket, (short) (POLLIN | (sending ? POLLOUT : 0)), 0}, {wire->wake, POLLIN, 0}};
    int ready = poll(watched, 2, closing ? CLOSING_MILLIS : -1);
    if (ready > 0 && watched[1].revents != 0) {
        uint64_t count;
        ready = read(wire->wake, &count, sizeof count) > 0;
    }
    return !(closing && ready == 0);
}

static void *work(void *argument)
{
    Wire *wire = argument;
    while (wait_for_work(wire) && write_some(wire) && read_some(wire)) {
    }
    close(wire->socket);
    wire->handler.ended(wire->context);
    close(wire->wake);
    pthread_mutex_destroy(&wire->lock);
    free(wire->content);
    free(wire->outgoing);
    free(wire);
    core_thread_ends();
    return NULL;
}

Wire *wire_open(int socket, const WireHandler *handler, void *context)
{
    Wire *wire = core_allocate(sizeof *wire);
    wire->socket = socket;
    wire->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    wire->handler = *handler;
    wire->context = context;
    pthread_mutex_init(&wire->lock, NULL);
    int at_once = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    return wire;
}

void wire_start(Wire *wire)
{
    core_start_thread(work, wire);
}
