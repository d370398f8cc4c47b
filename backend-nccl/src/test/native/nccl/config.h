/* ncclConfig_t, as far as the stand-in looks at it. */
#ifndef CONFIG_H
#define CONFIG_H

#include <stddef.h>

/* The fields of NCCL 2.14; a caller's struct may be longer and says so in `size`. */
typedef struct {
    size_t size;
    unsigned magic;
    unsigned version;
    int blocking;
} Config;

/* Whether calls on the communicator block: 1 or 0, -1 with the last error if the config cannot be used. NULL: 1. */
int config_blocking(const char *function, const Config *config);

#endif
