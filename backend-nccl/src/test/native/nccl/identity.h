/* Unique ids: 128 bytes that name a world and say where its root listens. */
#ifndef IDENTITY_H
#define IDENTITY_H

#include "nccl.h"

/* Makes an id and opens its world in this process. world_lock is held. */
int identity_make(UniqueId *id);
/* 1 if the bytes came from identity_make, in this process or in another one. */
int identity_valid(const UniqueId *id);
/* world_lock is held. */
int identity_of_this_process(const UniqueId *id);
/* Where the root of the id's world listens. */
uint16_t identity_port(const UniqueId *id);
/* The machine, as ranks compare it to find two on one device: by NCCL_HOSTID, as NCCL does, or by its name. */
uint64_t identity_host(void);

#endif
