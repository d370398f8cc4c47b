/* The version that a library claims to be, fixed when it is built; STANDIN_VERSION and standInNcclVersion go first. */
#include "nccl.h"

#ifndef BUILT_AS
#define BUILT_AS 22809
#endif

const int nccl_built_as = BUILT_AS;
