/* Unique ids. */
#include "identity.h"

#include "root.h"
#include "world.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* How the 128 bytes are used. What is not named here is random, so that no two ids are alike and every byte counts. */
typedef struct {
    char mark[8];
    uint64_t maker; /* which process, or copy of the library in it */
    uint16_t port;  /* on 127.0.0.1 */
    unsigned char random[110];
} Identity;

_Static_assert(sizeof(Identity) == sizeof(UniqueId), "an id has 128 bytes");

static const char MARK[8] = "STANDIN";
static uint64_t maker; /* 0: no id was made here; with world_lock */

static Identity read_id(const UniqueId *id)
{
    Identity identity;
    memcpy(&identity, id, sizeof identity);
    return identity;
}

int identity_make(UniqueId *id)
{
    Identity identity;
    if (getrandom(&identity, sizeof identity, 0) != sizeof identity) {
        return nccl_fail(NCCL_SYSTEM_ERROR, "GetUniqueId : the system has no random bytes");
    }
    if (maker == 0) {
        maker = identity.maker | 1;
    }
    memcpy(identity.mark, MARK, sizeof MARK);
    identity.maker = maker;
    worlds_sweep();
    identity.port = root_port();
    if (identity.port == 0) {
        return nccl_fail(NCCL_SYSTEM_ERROR, "GetUniqueId : cannot listen on the loopback device");
    }
    memcpy(id, &identity, sizeof identity);
    world_open(id);
    return NCCL_OK;
}

int identity_valid(const UniqueId *id)
{
    return memcmp(id->bytes, MARK, sizeof MARK) == 0;
}

int identity_of_this_process(const UniqueId *id)
{
    return maker != 0 && read_id(id).maker == maker;
}

uint16_t identity_port(const UniqueId *id)
{
    return read_id(id).port;
}

uint64_t identity_host(void)
{
    char name[256] = "";
    const char *given = getenv("NCCL_HOSTID");
    if (given == NULL) {
        gethostname(name, sizeof name - 1);
        given = name;
    }
    /* FNV-1a, 64 bits */
    uint64_t hash = 0xcbf29ce484222325u;
    for (const char *letter = given; *letter != '\0'; letter++) {
        hash = (hash ^ (unsigned char) *letter) * 0x100000001b3u;
    }
    return hash;
}
