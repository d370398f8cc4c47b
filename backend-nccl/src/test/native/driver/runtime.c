/* The runtime by itself: memory, copies, streams, events, errors. */
#include "driver.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NO_DRIVER = 35, NO_DEVICE = 100, BAD_HANDLE = 400, NOT_READY = 600 };
enum { BYTES = 64, SLOW_MICROS = 30000 };

/* A program that follows a device address dies, as it does with a GPU. */
static void check_device_memory_faults(void)
{
    void *address = NULL;
    expect(cudaMalloc(&address, BYTES), 0, "malloc");
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        _exit(*(volatile char *) address);
    }
    int status = 0;
    waitpid(child, &status, 0);
    expect(WIFSIGNALED(status), 1, "a read of device memory by the host kills");
    expect(cudaFree(address), 0, "free");
}

static void check_copies(void)
{
    char *device = NULL;
    char host[BYTES] = "some text";
    char back[BYTES];
    expect(cudaMalloc((void **) &device, BYTES), 0, "malloc");
    expect(cudaMemcpy(device, host, BYTES, HOST_TO_DEVICE), 0, "up");
    expect(cudaMemcpy(back, device, BYTES, DEVICE_TO_HOST), 0, "down");
    expect(memcmp(host, back, BYTES), 0, "round trip");
    expect(cudaMemcpy(device, host, BYTES, DEVICE_TO_HOST), INVALID_VALUE, "wrong direction");
    expect(cudaMemcpy(device, host, BYTES, 9), 21, "no direction");
    expect(cudaMemcpy(device + 1, host, BYTES, HOST_TO_DEVICE), INVALID_VALUE, "beyond the end");
    expect(cudaFree(device + 1), INVALID_VALUE, "free of the middle");
    expect(cudaFree(device), 0, "free");
    expect(cudaFree(device), INVALID_VALUE, "second free");
    while (cudaGetLastError() != 0) {
    }
}

/* A copy reads its source when it runs, so that a change in between is seen; a wait on an event prevents that. */
static void check_order(void)
{
    void *slow = NULL;
    void *other = NULL;
    void *event = NULL;
    char *device = NULL;
    char host[] = {1, 2};
    char back = 0;
    expect(cudaStreamCreateWithFlags(&slow, 1), 0, "stream");
    expect(cudaStreamCreateWithFlags(&other, 1), 0, "stream");
    expect(cudaEventCreateWithFlags(&event, 2), 0, "event");
    expect(cudaMalloc((void **) &device, BYTES), 0, "malloc");
    expect(cudaMemcpy(device, &host[0], 1, HOST_TO_DEVICE), 0, "first value");
    standInHold(1);
    expect(cudaMemcpyAsync(device, &host[1], 1, HOST_TO_DEVICE, slow), 0, "second value");
    expect(cudaStreamQuery(slow), NOT_READY, "busy");
    expect(cudaEventRecord(event, slow), 0, "record");
    expect(cudaEventQuery(event), NOT_READY, "not passed");
    expect(cudaStreamWaitEvent(other, event, 0), 0, "wait");
    expect(cudaMemcpyAsync(&back, device, 1, DEVICE_TO_HOST, other), 0, "read after the event");
    standInHold(0);
    expect(cudaStreamSynchronize(other), 0, "wait");
    expect(back, 2, "value after the event");
    expect(cudaEventDestroy(event), 0, "destroy");
    expect(cudaStreamDestroy(slow), 0, "destroy");
    expect(cudaStreamDestroy(other), 0, "destroy");
    expect(cudaStreamSynchronize(other), BAD_HANDLE, "use of a destroyed stream");
    expect(standInMisuse(), 1, "which is counted");
    expect(cudaFree(device), 0, "free");
}

/* The default stream waits for a blocking stream, not for a non-blocking one. */
static void check_default_stream(void)
{
    for (unsigned non_blocking = 0; non_blocking < 2; non_blocking++) {
        void *stream = NULL;
        char *device = NULL;
        char host[] = {1, 2};
        char back = 0;
        expect(cudaStreamCreateWithFlags(&stream, non_blocking), 0, "stream");
        expect(cudaMalloc((void **) &device, BYTES), 0, "malloc");
        expect(cudaMemcpy(device, &host[0], 1, HOST_TO_DEVICE), 0, "first value");
        standInHold(non_blocking);
        standInStreamLatency(0, non_blocking ? 0 : SLOW_MICROS);
        for (int i = 0; i < 3; i++) {
            expect(cudaMemcpyAsync(device, &host[1], 1, HOST_TO_DEVICE, stream), 0, "second value, slowly");
        }
        standInStreamLatency(0, 0);
        standInHold(non_blocking ? 2 : 0);
        expect(cudaMemcpyAsync(device + 1, &host[1], 1, HOST_TO_DEVICE, NULL), 0, "on the default stream");
        expect(cudaStreamSynchronize(NULL), 0, "wait for the default stream");
        expect(cudaStreamQuery(stream), non_blocking ? NOT_READY : 0, "non-blocking %u", non_blocking);
        standInHold(0);
        expect(cudaStreamSynchronize(stream), 0, "wait");
        expect(cudaMemcpy(&back, device, 1, DEVICE_TO_HOST), 0, "down");
        expect(back, 2, "second value");
        expect(cudaStreamDestroy(stream), 0, "destroy");
        expect(cudaFree(device), 0, "free");
    }
    while (cudaGetLastError() != 0) {
    }
}

static void check_limits(void)
{
    void *address = &address;
    standInDeviceMemory(1024);
    expect(cudaMalloc(&address, 2048), OUT_OF_MEMORY, "more than there is");
    expect(address == &address, 1, "out-parameter untouched");
    expect(cudaGetLastError(), OUT_OF_MEMORY, "last error");
    expect(cudaGetLastError(), 0, "cleared by reading");
    standInRefusePinning(1);
    expect(cudaHostAlloc(&address, 16, 0), OUT_OF_MEMORY, "pinning refused");
    standInReset();
}

static void check_states(void)
{
    int count = 77;
    standInDevices(-1);
    expect(cudaGetDeviceCount(&count), NO_DRIVER, "no driver");
    expect(count, 99, "a number that no caller can take for none");
    expect(cudaGetLastError(), NO_DRIVER, "last error");
    expect(cudaGetLastError(), NO_DRIVER, "not cleared");
    standInDevices(0);
    expect(cudaGetDeviceCount(&count), NO_DEVICE, "no device");
    standInReset();
    standInStickyError(719);
    expect(cudaSetDevice(0), 719, "sticky error");
    standInReset();
    standInFailNext("cudaSetDevice", 1, 46);
    expect(cudaSetDevice(0), 0, "before the planned failure");
    expect(cudaSetDevice(0), 46, "planned failure");
    expect(cudaSetDevice(0), 0, "after the planned failure");
    while (cudaGetLastError() != 0) {
    }
}

static void check_log(void)
{
    char text[4096];
    standInRecord(1);
    expect(cudaSetDevice(1), 0, "set device");
    expect(ncclGroupStart(), 0, "group start");
    expect(ncclGroupEnd(), 0, "group end");
    standInRecord(0);
    expect(cudaSetDevice(0), 0, "set device");
    expect(standInLogRead(text, sizeof text) <= (long) sizeof text, 1, "log fits");
    expect(strncmp(text, "cudaSetDevice|0|", 16), 0, "first line of %s", text);
    expect(strstr(text, "\nncclGroupStart|1|") != NULL, 1, "second line of %s", text);
    expect(strstr(text, "|1\n") != NULL, 1, "argument in %s", text);
    standInReset();
    expect(standInLogRead(NULL, 0), 1, "empty log");
}

void check_runtime(void)
{
    check_device_memory_faults();
    check_copies();
    check_order();
    check_default_stream();
    check_limits();
    check_states();
    check_log();
    until(nothing_is_live, NULL, "nothing is live");
    standInReset();
}
