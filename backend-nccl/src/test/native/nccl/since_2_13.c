/* The last error in words: NCCL 2.13 and later. Per thread here, one for the process in NCCL; the handle is ignored. */
#include "nccl.h"

EXPORT const char *ncclGetLastError(void *comm)
{
    (void) comm;
    return nccl_last_error();
}
