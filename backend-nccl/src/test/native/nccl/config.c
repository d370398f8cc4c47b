/* Checks of ncclConfig_t. */
#include "config.h"

#include "nccl.h"

#include <limits.h>

static const unsigned MAGIC = 0xcafebeef;
static const int UNDEFINED = INT_MIN;

int config_blocking(const char *function, const Config *config)
{
    if (config == NULL) {
        return 1;
    }
    if (config->magic != MAGIC || config->size < offsetof(Config, blocking) + sizeof config->blocking) {
        nccl_fail(NCCL_INVALID_ARGUMENT, "%s : config is not initialised: size %zu, magic %x", function, config->size,
                  config->magic);
        return -1;
    }
    int blocking = config->blocking == UNDEFINED ? 1 : config->blocking;
    if (blocking != 0 && blocking != 1) {
        nccl_fail(NCCL_INVALID_ARGUMENT, "%s : invalid config blocking attribute value %d", function, blocking);
        return -1;
    }
    return blocking;
}
