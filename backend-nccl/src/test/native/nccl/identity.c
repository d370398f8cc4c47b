/* Unique ids. */
#include "identity.h"

#include "world.h"

#include <string.h>
#include <sys/random.h>

/* How the 128 bytes are used. All that is not named here is random, so that no two ids are alike and every byte counts. */
typedef struct {
    char mark[8];
    unsigned char random[120];
} Identity;

_Static_assert(sizeof(Identity) == sizeof(UniqueId), "an id has 128 bytes");

static const char MARK[8] = "STANDIN";

int identity_make(UniqueId *id)
{
    Identity identity;
    if (getrandom(&identity, sizeof identity, 0) != sizeof identity) {
        return nccl_fail(NCCL_SYSTEM_ERROR, "GetUniqueId : the system has no random bytes");
    }
    memcpy(identity.mark, MARK, sizeof MARK);
    memcpy(id, &identity, sizeof identity);
    worlds_sweep();
    world_open(id);
    return NCCL_OK;
}

int identity_valid(const UniqueId *id)
{
    return memcmp(id->bytes, MARK, sizeof MARK) == 0;
}
