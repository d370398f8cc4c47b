/* Devices, versions and errors: everything that needs no memory and no stream. */
#include "cuda.h"

#include <stdio.h>

enum { RUNTIME_VERSION = 12090, DRIVER_VERSION = 13000 };

/* What a failed call leaves where its answer would be: nothing in the manuals says that it means anything. */
enum { LEFT_BY_A_FAILURE = 99 };

static __thread int current_device;
static __thread int last_error;

int device_current(void)
{
    return current_device;
}

int device_count(void)
{
    return atomic_load(&settings.devices);
}

int device_state(void)
{
    if (device_count() < 0) {
        return CUDA_NO_DRIVER;
    }
    return device_count() == 0 ? CUDA_NO_DEVICE : atomic_load(&settings.sticky_error);
}

int cuda_first_of(int planned)
{
    return planned != 0 ? planned : device_state();
}

int cuda_end(int error)
{
    if (error != CUDA_OK) {
        last_error = error;
    }
    return error;
}

/* ---- devices ---- */

EXPORT int RUNTIME(GetDeviceCount)(int *count)
{
    int error = CUDA_BEGIN(RUNTIME_NAME("GetDeviceCount"), "%p", (void *) count);
    *count = error == CUDA_OK ? device_count() : LEFT_BY_A_FAILURE;
    return cuda_end(error);
}

EXPORT int RUNTIME(GetDevice)(int *device)
{
    int error = CUDA_BEGIN(RUNTIME_NAME("GetDevice"), "%p", (void *) device);
    if (error == CUDA_OK) {
        *device = current_device;
    }
    return cuda_end(error);
}

static int check_device(int device)
{
    return device < 0 || device >= device_count() ? CUDA_INVALID_DEVICE : CUDA_OK;
}

EXPORT int RUNTIME(SetDevice)(int device)
{
    int error = CUDA_BEGIN(RUNTIME_NAME("SetDevice"), "%d", device);
    if (error == CUDA_OK) {
        error = check_device(device);
    }
    if (error == CUDA_OK) {
        current_device = device;
    }
    return cuda_end(error);
}

EXPORT int RUNTIME(DeviceCanAccessPeer)(int *can, int device, int peer)
{
    int error = CUDA_BEGIN(RUNTIME_NAME("DeviceCanAccessPeer"), "%p,%d,%d", (void *) can, device, peer);
    if (error == CUDA_OK) {
        error = check_device(device) != CUDA_OK ? check_device(device) : check_device(peer);
    }
    if (error == CUDA_OK) {
        *can = device != peer;
    }
    return cuda_end(error);
}

EXPORT int RUNTIME(DeviceGetPCIBusId)(char *text, int capacity, int device)
{
    int error = CUDA_BEGIN(RUNTIME_NAME("DeviceGetPCIBusId"), "%p,%d,%d", (void *) text, capacity, device);
    if (error == CUDA_OK) {
        error = check_device(device);
    }
    if (error == CUDA_OK && snprintf(text, (size_t) capacity, "0000:%02X:00.0", device + 1) >= capacity) {
        error = CUDA_INVALID_VALUE;
    }
    return cuda_end(error);
}

/* ---- versions: they work without a driver too ---- */

EXPORT int RUNTIME(RuntimeGetVersion)(int *version)
{
    int error = core_call(RUNTIME_NAME("RuntimeGetVersion"), "%p", (void *) version);
    if (error == CUDA_OK) {
        *version = RUNTIME_VERSION;
    }
    return cuda_end(error);
}

EXPORT int RUNTIME(DriverGetVersion)(int *version)
{
    int error = core_call(RUNTIME_NAME("DriverGetVersion"), "%p", (void *) version);
    if (error != CUDA_OK) {
        *version = LEFT_BY_A_FAILURE;
        return cuda_end(error);
    }
    *version = device_count() < 0 ? 0 : DRIVER_VERSION;
    return CUDA_OK;
}

/* ---- errors ---- */

/* Reading the last error clears it, unless the machine is still in the state that caused it. */
EXPORT int RUNTIME(GetLastError)(void)
{
    core_call(RUNTIME_NAME("GetLastError"), "%s", "");
    int error = last_error;
    if (error != device_state()) {
        last_error = CUDA_OK;
    }
    return error;
}

EXPORT int RUNTIME(PeekAtLastError)(void)
{
    core_call(RUNTIME_NAME("PeekAtLastError"), "%s", "");
    return last_error;
}

typedef struct {
    int code;
    const char *name;
    const char *text;
} ErrorText;

static const ErrorText error_texts[] = {
    {0, RUNTIME_NAME("Success"), "no error"},
    {1, RUNTIME_NAME("ErrorInvalidValue"), "invalid argument"},
    {2, RUNTIME_NAME("ErrorMemoryAllocation"), "out of memory"},
    {3, RUNTIME_NAME("ErrorInitializationError"), "initialization error"},
    {21, RUNTIME_NAME("ErrorInvalidMemcpyDirection"), "invalid copy direction for memcpy"},
    {35, RUNTIME_NAME("ErrorInsufficientDriver"), "driver version is insufficient for runtime version"},
    {46, RUNTIME_NAME("ErrorDevicesUnavailable"), "devices are busy or unavailable"},
    {100, RUNTIME_NAME("ErrorNoDevice"), "no device is detected"},
    {101, RUNTIME_NAME("ErrorInvalidDevice"), "invalid device ordinal"},
    {400, RUNTIME_NAME("ErrorInvalidResourceHandle"), "invalid resource handle"},
    {600, RUNTIME_NAME("ErrorNotReady"), "device not ready"},
    {700, RUNTIME_NAME("ErrorIllegalAddress"), "an illegal memory access was encountered"},
    {712, RUNTIME_NAME("ErrorHostMemoryAlreadyRegistered"), "part or all of the memory is already registered"},
    {713, RUNTIME_NAME("ErrorHostMemoryNotRegistered"), "the memory is not registered"},
    {719, RUNTIME_NAME("ErrorLaunchFailure"), "unspecified launch failure"},
    {801, RUNTIME_NAME("ErrorNotSupported"), "operation not supported"},
};

static const ErrorText *find_text(int code)
{
    static const ErrorText unknown = {0, "unrecognized error code", "unrecognized error code"};
    for (size_t i = 0; i < sizeof error_texts / sizeof error_texts[0]; i++) {
        if (error_texts[i].code == code) {
            return &error_texts[i];
        }
    }
    return &unknown;
}

EXPORT const char *RUNTIME(GetErrorName)(int code)
{
    return find_text(code)->name;
}

EXPORT const char *RUNTIME(GetErrorString)(int code)
{
    return find_text(code)->text;
}
