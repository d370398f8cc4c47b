/* The call log, the failures that a test has planned, and the count of misuses. */
#define _GNU_SOURCE
#include "core.h"

#include "../cuda/cuda.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST_LINE = 512, MAX_PLANNED = 64, MAX_LOG_BYTES = 64 << 20 };

typedef struct {
    char function[64];
    int after;
    int code;
} Planned;

static pthread_mutex_t calls_lock = PTHREAD_MUTEX_INITIALIZER;
static Planned planned[MAX_PLANNED];
static int planned_count;

static atomic_int recording;
static char *log_text;
static size_t log_bytes;
static size_t log_capacity;

static atomic_int misuses;

/* calls_lock is held. */
static void append(const char *line, size_t bytes)
{
    if (log_bytes + bytes > MAX_LOG_BYTES) {
        return;
    }
    while (log_bytes + bytes > log_capacity) {
        log_capacity = log_capacity == 0 ? 4096 : 2 * log_capacity;
        log_text = realloc(log_text, log_capacity);
        if (log_text == NULL) {
            abort();
        }
    }
    memcpy(log_text + log_bytes, line, bytes);
    log_bytes += bytes;
}

static void write_down(const char *function, const char *format, va_list arguments)
{
    char line[LONGEST_LINE];
    int bytes = snprintf(line, sizeof line, "%s|%d|%d|", function, device_current(), (int) gettid());
    bytes += vsnprintf(line + bytes, sizeof line - (size_t) bytes - 1, format, arguments);
    if (bytes > LONGEST_LINE - 2) {
        bytes = LONGEST_LINE - 2;
    }
    line[bytes] = '\n';
    pthread_mutex_lock(&calls_lock);
    append(line, (size_t) bytes + 1);
    pthread_mutex_unlock(&calls_lock);
}

/* The code planned for this call, or 0. calls_lock is held. */
static int take_planned(const char *function)
{
    for (int i = 0; i < planned_count; i++) {
        if (strcmp(planned[i].function, function) != 0) {
            continue;
        }
        if (planned[i].after > 0) {
            planned[i].after--;
            continue;
        }
        int code = planned[i].code;
        memmove(&planned[i], &planned[i + 1], (size_t) (planned_count - i - 1) * sizeof planned[0]);
        planned_count--;
        return code;
    }
    return 0;
}

int core_call(const char *function, const char *format, ...)
{
    if (atomic_load(&recording)) {
        va_list arguments;
        va_start(arguments, format);
        write_down(function, format, arguments);
        va_end(arguments);
    }
    pthread_mutex_lock(&calls_lock);
    int code = take_planned(function);
    pthread_mutex_unlock(&calls_lock);
    return code;
}

static void write_misuse(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    write_down("misuse", format, arguments);
    va_end(arguments);
}

void core_misuse(const char *function, const void *handle)
{
    atomic_fetch_add(&misuses, 1);
    if (atomic_load(&recording)) {
        write_misuse("%s,%p", function, handle);
    }
}

void calls_reset(void)
{
    pthread_mutex_lock(&calls_lock);
    planned_count = 0;
    free(log_text);
    log_text = NULL;
    log_bytes = log_capacity = 0;
    pthread_mutex_unlock(&calls_lock);
    atomic_store(&recording, 0);
    atomic_store(&misuses, 0);
}

/* ---- hooks ---- */

EXPORT void standInFailNext(const char *function, int after, int code)
{
    pthread_mutex_lock(&calls_lock);
    if (planned_count < MAX_PLANNED) {
        Planned *entry = &planned[planned_count++];
        snprintf(entry->function, sizeof entry->function, "%s", function);
        entry->after = after;
        entry->code = code;
    }
    pthread_mutex_unlock(&calls_lock);
}

EXPORT void standInRecord(int on)
{
    atomic_store(&recording, on);
}

EXPORT long standInLogRead(char *text, long capacity)
{
    pthread_mutex_lock(&calls_lock);
    long needed = (long) log_bytes + 1;
    if (text != NULL && capacity > 0) {
        size_t copied = (size_t) (needed <= capacity ? needed - 1 : capacity - 1);
        if (copied > 0) {
            memcpy(text, log_text, copied);
        }
        text[copied] = '\0';
    }
    pthread_mutex_unlock(&calls_lock);
    return needed;
}

EXPORT void standInLogClear(void)
{
    pthread_mutex_lock(&calls_lock);
    log_bytes = 0;
    pthread_mutex_unlock(&calls_lock);
}

EXPORT int standInMisuse(void)
{
    return atomic_load(&misuses);
}
