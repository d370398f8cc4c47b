/* Unique ids: 128 bytes that name a world and say where its root listens. */
#ifndef IDENTITY_H
#define IDENTITY_H

#include "nccl.h"

/* Makes an id and opens its world in this process. world_lock is held. */
int identity_make(UniqueId *id);
/* 1 if the bytes came from identity_make, in this process or in another one. */
int identity_valid(const UniqueId *id);

#endif
