/* What a rank asks for, and how many bytes that moves. */
#ifndef REQUEST_H
#define REQUEST_H

#include <stddef.h>
#include <stdint.h>

typedef enum {
    ALL_REDUCE,
    BROADCAST,
    REDUCE,
    ALL_GATHER,
    REDUCE_SCATTER,
    ALL_TO_ALL,
    GATHER,
    SCATTER,
    SPLIT,
    SEND,
    RECEIVE
} RequestKind;

/* NCCL's element types. Those from the 8 bit floats on can be copied, not reduced. */
enum { INT8, UINT8, INT32, UINT32, INT64, UINT64, FLOAT16, FLOAT32, FLOAT64, BFLOAT16, FLOAT8E4M3, FLOAT8E5M2, TYPES };

enum { SUM, PRODUCT, MAXIMUM, MINIMUM, AVERAGE, OPERATORS };

enum { NO_PEER = -1 };

/* Fixed layout: it also travels between processes of one machine. */
typedef struct {
    int32_t kind;
    int32_t type;
    int32_t op;   /* of a reduction, else 0 */
    int32_t peer; /* root of a collective, other side of a send or receive, else NO_PEER */
    uint64_t count;
    uint64_t sequence; /* n-th collective of the communicator, or n-th message of this pair in this direction */
} Request;

/* What a rank gives to a split, and what it gets. */
typedef struct {
    int32_t color;
    int32_t key;
} SplitQuestion;

typedef struct {
    unsigned char id[128];
    int32_t size; /* 0: this rank is in no group */
    int32_t rank;
} SplitAnswer;

/* NCCL's name, such as "AllReduce". */
const char *request_name(RequestKind kind);
size_t type_bytes(int type);
int request_is_message(const Request *request);
int request_reduces(const Request *request);
/* Bytes that this rank's side of the request reads and writes; 0 where it does not look at that buffer. */
size_t request_sends(const Request *request, int size, int rank);
size_t request_receives(const Request *request, int size, int rank);
/* Do two ranks mean the same operation? */
int requests_agree(const Request *one, const Request *other);

#endif
