/*
 * Test hooks of the stand-in libraries: how a test arranges a machine, breaks it, and looks inside.
 *
 * The hooks of the runtime live in libcudart, those of NCCL in libnccl. A loader that asks libnccl for a symbol also
 * searches the libraries it depends on, so a test that binds this whole header to libnccl finds every hook.
 *
 * Settings marked with a variable can also be given by that environment variable, which is read once, when the library
 * is loaded; standInReset goes back to those values.
 */
#ifndef STANDIN_H
#define STANDIN_H

#include <stddef.h>

/* The 128 bytes that name a world; NCCL passes them by value. */
typedef struct {
    unsigned char bytes[128];
} UniqueId;

/* ---- the machine (libcudart) ---- */

/* Settings, planned failures, log and counters as after loading. Live objects stay as they are. */
void standInReset(void);

/* Number of devices, at most 16; 0: every call answers 100; -1: no driver, 35. STANDIN_DEVICES, default 4. */
void standInDevices(int count);

/* Bytes of each device; beyond that an allocation answers 2. STANDIN_MEMORY, default 1 GiB. */
void standInDeviceMemory(size_t bytes);

/*
 * Operations put on a stream of this device (-1: of all) from now on take so much longer. STANDIN_STREAM_LATENCY_US,
 * default 0.
 */
void standInStreamLatency(int device, int micros);

/*
 * 1: operations put on a stream from now on begin only when this is 0 again; 2: those put on one from now on begin at
 * once, those held still wait for the 0. Default 0.
 */
void standInHold(int on);

/* 1: pinned host memory is refused with 2 (HostAlloc) and 801 (HostRegister). STANDIN_REFUSE_PINNING, default 0. */
void standInRefusePinning(int refuse);

/* Every call answers this code until it is set to 0, as after a fault of a kernel. STANDIN_STICKY_ERROR, default 0. */
void standInStickyError(int code);

/*
 * The call of this function that comes after `after` more calls of it answers `code` and does nothing, once. Several
 * may be planned at a time. The name is the exported one, such as "cudaMalloc" or "ncclCommInitRank". A function that
 * returns no code cannot be planned.
 */
void standInFailNext(const char *function, int after, int code);

/* ---- looking inside (libcudart) ---- */

/* Live objects: "device" and "pinned" allocations, "stream", "event", "comm"; "all" for their sum; -1: no such kind. */
int standInLive(const char *kind);

/* Threads of the libraries that have not ended; a stream's thread ends shortly after its last operation. */
int standInThreads(void);

/* Uses of handles that are closed or were never given out (each answered with an error as well). */
int standInMisuse(void);

/* Device or pinned memory that was freed while an operation was still going to use it. */
int standInFreedInUse(void);

/* 1: write down every call from now on; 0: stop. What was written stays. */
void standInRecord(int on);

/*
 * Copies the log, as lines "function|device|thread|arguments", into `text` with a final NUL and returns the bytes
 * needed for all of it. Device is the calling thread's current one, thread its number in the system; arguments are
 * separated by commas, numbers in decimal, addresses and handles in hexadecimal with 0x.
 */
long standInLogRead(char *text, long capacity);
void standInLogClear(void);

/* ---- NCCL (libnccl) ---- */

/* What ncclGetVersion answers; types and operations that are younger are refused. STANDIN_VERSION, default 22809. */
void standInNcclVersion(int version);

/*
 * Operations, or groups of them, that are started from now on wait so long on their stream before they begin.
 * STANDIN_NCCL_LATENCY_US, default 0.
 */
void standInNcclLatency(int micros);

/*
 * The first operation, or group, of a non-blocking communicator connects the ranks first: it is answered 7 and comes on
 * its stream only so much later; until then the communicator's asynchronous error is 7 and further operations are
 * answered 4. 0: it is started at once. STANDIN_CONNECT_US, default 1000.
 */
void standInConnectTime(int micros);

/* Every call on a communicator stays inside the library for so long, so that two at a time are seen. Default 0. */
void standInCallDwell(int micros);

/*
 * The most calls that were inside one communicator at the same time since the last reset. ncclCommAbort and
 * ncclCommGetAsyncError do not count: they may come from any thread.
 */
int standInMaxEntries(void);

/* What ncclCommGetAsyncError answers from now on for this communicator, or for all that are open (0). */
void standInAsyncError(void *comm, int code);

/* 1: operations wait for ever, even when all ranks have come. STANDIN_HANG, default 0. */
void standInHang(int on);

/* 1: ranks that issue different operations wait for ever, as with NCCL; 0: async error 5. STANDIN_MISMATCH_HANGS. */
void standInMismatchHangs(int on);

/*
 * 1: collectives that differ end as over NCCL's sockets. A rank whose operation is the largest of all ranks succeeds with
 * wrong data. A rank with a smaller one gets async error 5, since a longer message comes than it expects. If all are of
 * one size, all succeed, and the next smaller collective of a rank gets the error. STANDIN_MISMATCH_TRUNCATES, default 0.
 */
void standInMismatchTruncates(int on);

/* 1: an abort shows on the other ranks as async error 6; 0: they just wait. STANDIN_REMOTE_ERRORS, default 0. */
void standInRemoteErrors(int on);

/* 1: the end of a rank's process shows nowhere, the others just wait; 0: as async error 6. STANDIN_SILENT_DEATHS. */
void standInSilentDeaths(int on);

/*
 * 1: a rank leaves an operation as soon as it has its own result and its data is handed on, as with NCCL: the root of a
 * broadcast or scatter, who is not the root of a reduce or gather, a sender. 0: all leave together. If it then ends its
 * communicator before the others have what it left for them, they wait for ever. STANDIN_EARLY_RETURNS, default 0.
 */
void standInEarlyReturns(int on);

/*
 * The kernels of an operation end one after the other, so far apart, the first another one each time. One that is still
 * running when any rank ends its communicator never ends. STANDIN_TAIL_US, default 0.
 */
void standInTail(int micros);

/* 1: several ranks may sit on one device. STANDIN_ALLOW_DUPLICATES, default 0. */
void standInAllowDuplicates(int on);

/* 1: ncclCommAbort does not come back until this is 0 again. STANDIN_ABORT_HANGS, default 0. */
void standInAbortHangs(int on);

/*
 * Folds what arrived into one number: h = before; for each of the 128 bytes h = 31 h + byte; h = 31 h + after (32 bits,
 * wrapping). Shows that the struct by value and its neighbours arrive whole.
 */
int standInEcho(int before, UniqueId id, int after);

#endif
