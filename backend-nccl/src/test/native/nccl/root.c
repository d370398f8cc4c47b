/* Listening: one socket and one thread for all worlds of this process, while there is any. */
#define _GNU_SOURCE
#include "root.h"

#include "world.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LOOK_AGAIN_MILLIS = 10000, BACKLOG = 64 };

/* With world_lock. */
static int listener = -1;
static int wake = -1;
static uint16_t port;

/* A socket on the loopback device, at a port that the system chooses; -1 if there is none. */
static int listen_on_loopback(uint16_t *chosen)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int opened = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (opened < 0) {
        return -1;
    }
    if (bind(opened, (struct sockaddr *) &address, length) != 0 || listen(opened, BACKLOG) != 0
        || getsockname(opened, (struct sockaddr *) &address, &length) != 0) {
        close(opened);
        return -1;
    }
    *chosen = ntohs(address.sin_port);
    return opened;
}

/* Closes the listener if no world is left; answers whether it did. */
static int stop_if_idle(void)
{
    pthread_mutex_lock(&world_lock);
    int idle = !worlds_sweep();
    if (idle) {
        close(listener);
        close(wake);
        listener = wake = -1;
    }
    pthread_mutex_unlock(&world_lock);
    return idle;
}

static void *serve(void *unused)
{
    struct pollfd watched[] = {{listener, POLLIN, 0}, {wake, POLLIN, 0}};
    do {
        int ready = poll(watched, 2, LOOK_AGAIN_MILLIS);
        uint64_t count;
        if (ready > 0 && watched[1].revents != 0 && read(watched[1].fd, &count, sizeof count) < 0) {
            continue;
        }
        int visitor = accept4(watched[0].fd, NULL, NULL, SOCK_CLOEXEC);
        if (visitor >= 0) {
            visitor_open(visitor);
        }
    } while (!stop_if_idle());
    core_thread_ends();
    return unused;
}

uint16_t root_port(void)
{
    if (listener < 0) {
        listener = listen_on_loopback(&port);
        if (listener < 0) {
            return 0;
        }
        wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        core_start_thread(serve, NULL);
    }
    return port;
}

void root_may_stop(void)
{
    uint64_t one = 1;
    if (wake >= 0 && write(wake, &one, sizeof one) < 0) {
        return; /* it was already awake, and looks again anyway */
    }
}
