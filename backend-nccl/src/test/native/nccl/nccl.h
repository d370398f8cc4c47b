/* Numbers of NCCL's interface, settings of the stand-in, and how a call ends. */
#ifndef NCCL_H
#define NCCL_H

#include "../cuda/cuda.h"

enum {
    NCCL_OK = 0,
    NCCL_CUDA_ERROR = 1,
    NCCL_SYSTEM_ERROR = 2,
    NCCL_INTERNAL_ERROR = 3,
    NCCL_INVALID_ARGUMENT = 4,
    NCCL_INVALID_USAGE = 5,
    NCCL_REMOTE_ERROR = 6,
    NCCL_IN_PROGRESS = 7
};

/* ---- version.c ---- */

extern const int nccl_built_as;

/* ---- settings.c ---- */

typedef struct {
    atomic_int version;
    atomic_int latency_micros;
    atomic_int connect_micros;
    atomic_int dwell_micros;
    atomic_int hang;
    atomic_int mismatch_hangs;
    atomic_int mismatch_truncates;
    atomic_int remote_errors;
    atomic_int silent_deaths;
    atomic_int allow_duplicates;
    atomic_int early_returns;
    atomic_int tail_micros;
    atomic_int abort_hangs;
} NcclSettings;

extern NcclSettings nccl_settings;

/* ---- errors.c ---- */

/* Remembers the text for ncclGetLastError of this thread and passes the code on. */
int nccl_fail(int code, const char *format, ...) LIKE_PRINTF(2, 3);
/* What was remembered. */
const char *nccl_last_error(void);
/* A planned failure's end. */
int nccl_planned(int code, const char *function);
/* 1 with the reason if no device can be used now, else 0. */
int nccl_check_devices(void);

#endif
