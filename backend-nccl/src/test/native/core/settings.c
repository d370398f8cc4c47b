/* Settings of the machine: first from the environment, then from the test's hooks. */
#include "core.h"

#include "../cuda/cuda.h"

#include <stdlib.h>
#include <string.h>

enum { DEFAULT_DEVICES = 4, MAX_LISTENERS = 4 };
static const long DEFAULT_MEMORY = 1L << 30;

Settings settings;
static void (*listeners[MAX_LISTENERS])(void);
static int listener_count;

long core_variable(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text == NULL || *text == '\0' ? otherwise : strtol(text, NULL, 0);
}

void core_on_reset(void (*reset)(void))
{
    if (listener_count < MAX_LISTENERS) {
        listeners[listener_count++] = reset;
    }
}

static void read_environment(void)
{
    standInDevices((int) core_variable("STANDIN_DEVICES", DEFAULT_DEVICES));
    standInDeviceMemory((size_t) core_variable("STANDIN_MEMORY", DEFAULT_MEMORY));
    standInStreamLatency(-1, (int) core_variable("STANDIN_STREAM_LATENCY_US", 0));
    standInHold(0);
    standInRefusePinning((int) core_variable("STANDIN_REFUSE_PINNING", 0));
    standInStickyError((int) core_variable("STANDIN_STICKY_ERROR", 0));
}

__attribute__((constructor)) static void load(void)
{
    read_environment();
}

EXPORT void standInReset(void)
{
    read_environment();
    calls_reset();
    memory_reset_counters();
    for (int i = 0; i < listener_count; i++) {
        listeners[i]();
    }
}

EXPORT void standInDevices(int count)
{
    atomic_store(&settings.devices, count > MAX_DEVICES ? MAX_DEVICES : count);
}

EXPORT void standInDeviceMemory(size_t bytes)
{
    atomic_store(&settings.memory, bytes);
}

EXPORT void standInStreamLatency(int device, int micros)
{
    for (int i = 0; i < MAX_DEVICES; i++) {
        if (device == -1 || device == i) {
            atomic_store(&settings.latency_micros[i], micros);
        }
    }
}

EXPORT void standInHold(int on)
{
    atomic_store(&settings.hold, on);
}

EXPORT void standInRefusePinning(int refuse)
{
    atomic_store(&settings.refuse_pinning, refuse);
}

EXPORT void standInStickyError(int code)
{
    atomic_store(&settings.sticky_error, code);
}

EXPORT int standInLive(const char *kind)
{
    static const char *const names[] = {"device", "pinned", "stream", "event", "comm"};
    const int live[] = {memory_live(MEMORY_DEVICE), memory_live(MEMORY_PINNED), core_live(OBJECT_STREAM),
                        core_live(OBJECT_EVENT), core_live(OBJECT_COMM)};
    int sum = 0;
    for (int i = 0; i < 5; i++) {
        if (strcmp(kind, names[i]) == 0) {
            return live[i];
        }
        sum += live[i];
    }
    return strcmp(kind, "all") == 0 ? sum : -1;
}
