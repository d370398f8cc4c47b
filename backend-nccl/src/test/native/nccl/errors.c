/* Error codes in words, and the last error of a thread. */
#include "nccl.h"

#include <stdarg.h>
#include <stdio.h>

static __thread char last_error[256];

int nccl_fail(int code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(last_error, sizeof last_error, format, arguments);
    va_end(arguments);
    return code;
}

int nccl_planned(int code, const char *function)
{
    return nccl_fail(code, "%s : failure %d planned by the test", function, code);
}

int nccl_check_devices(void)
{
    int state = device_state();
    return state == CUDA_OK ? NCCL_OK : nccl_fail(NCCL_CUDA_ERROR, "Cuda failure %d : no usable device", state);
}

EXPORT const char *ncclGetErrorString(int code)
{
    static const char *const texts[] = {
        "no error",
        "unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
        "unhandled system error (run with NCCL_DEBUG=INFO for details)",
        "internal error - please report this issue to the NCCL developers",
        "invalid argument (run with NCCL_DEBUG=WARN for details)",
        "invalid usage (run with NCCL_DEBUG=WARN for details)",
        "remote process exited or there was a network error",
        "NCCL operation in progress",
    };
    return code >= NCCL_OK && code <= NCCL_IN_PROGRESS ? texts[code] : "unknown result code";
}

const char *nccl_last_error(void)
{
    return last_error;
}

EXPORT int ncclGetVersion(int *version)
{
    int planned = core_call("ncclGetVersion", "%p", (void *) version);
    if (planned != NCCL_OK) {
        return nccl_planned(planned, "GetVersion");
    }
    if (version == NULL) {
        return nccl_fail(NCCL_INVALID_ARGUMENT, "GetVersion : version argument is NULL");
    }
    *version = atomic_load(&nccl_settings.version);
    return NCCL_OK;
}
