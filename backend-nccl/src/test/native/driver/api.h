/* What the driver calls: the runtime, NCCL and the hooks, as a C program sees them. */
#ifndef API_H
#define API_H

#include "../standin.h"

#include <stdint.h>

int cudaSetDevice(int device);
int cudaGetDevice(int *device);
int cudaGetDeviceCount(int *count);
int cudaGetLastError(void);
int cudaMalloc(void **address, size_t bytes);
int cudaFree(void *address);
int cudaHostAlloc(void **address, size_t bytes, unsigned flags);
int cudaFreeHost(void *address);
int cudaMemcpy(void *to, const void *from, size_t bytes, int direction);
int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int direction, void *stream);
int cudaMemsetAsync(void *to, int fill, size_t bytes, void *stream);
int cudaStreamCreateWithFlags(void **stream, unsigned flags);
int cudaStreamDestroy(void *stream);
int cudaStreamSynchronize(void *stream);
int cudaStreamQuery(void *stream);
int cudaStreamWaitEvent(void *stream, void *event, unsigned flags);
int cudaEventCreateWithFlags(void **event, unsigned flags);
int cudaEventRecord(void *event, void *stream);
int cudaEventQuery(void *event);
int cudaEventSynchronize(void *event);
int cudaEventElapsedTime(float *millis, void *start, void *end);
int cudaEventDestroy(void *event);

int ncclGetVersion(int *version);
int ncclGetUniqueId(UniqueId *id);
int ncclCommInitRank(void **comm, int size, UniqueId id, int rank);
int ncclCommInitRankConfig(void **comm, int size, UniqueId id, int rank, void *config);
int ncclCommInitAll(void **comms, int size, const int *devices);
int ncclCommSplit(void *comm, int color, int key, void **result, void *config);
int ncclCommFinalize(void *comm);
int ncclCommDestroy(void *comm);
int ncclCommAbort(void *comm);
int ncclCommGetAsyncError(void *comm, int *code);
int ncclCommCount(void *comm, int *count);
int ncclCommCuDevice(void *comm, int *device);
int ncclCommUserRank(void *comm, int *rank);
const char *ncclGetLastError(void *comm);
int ncclGroupStart(void);
int ncclGroupEnd(void);
int ncclAllReduce(const void *send, void *receive, size_t count, int type, int op, void *comm, void *stream);
int ncclBroadcast(const void *send, void *receive, size_t count, int type, int root, void *comm, void *stream);
int ncclReduce(const void *send, void *receive, size_t count, int type, int op, int root, void *comm, void *stream);
int ncclAllGather(const void *send, void *receive, size_t count, int type, void *comm, void *stream);
int ncclReduceScatter(const void *send, void *receive, size_t count, int type, int op, void *comm, void *stream);
int ncclAlltoAll(const void *send, void *receive, size_t count, int type, void *comm, void *stream);
int ncclGather(const void *send, void *receive, size_t count, int type, int root, void *comm, void *stream);
int ncclScatter(const void *send, void *receive, size_t count, int type, int root, void *comm, void *stream);
int ncclSend(const void *send, size_t count, int type, int peer, void *comm, void *stream);
int ncclRecv(void *receive, size_t count, int type, int peer, void *comm, void *stream);

enum { HOST_TO_DEVICE = 1, DEVICE_TO_HOST = 2, DEVICE_TO_DEVICE = 3 };
enum { INT32 = 2, FLOAT32 = 7, TYPES = 10 };
enum { SUM, PRODUCT, MAXIMUM, MINIMUM, AVERAGE, OPERATORS };

#endif
