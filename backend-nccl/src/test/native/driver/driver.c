/*
 * Checks the stand-in libraries from C: sh check.sh OUT builds and runs it.
 *
 *   driver            everything, with ranks as threads and as processes
 *   driver rank ...   one rank of a world of processes; see processes.c
 */
#include "driver.h"

#include <stdio.h>
#include <string.h>

enum { RANKS = 4 };

static void all_collectives(Rank *self)
{
    check_arithmetic(self);
    check_data_movement(self);
    rank_close(self);
}

static void check_threads(void)
{
    on_threads(RANKS, all_collectives);
    on_threads(3, all_collectives);
    on_threads(1, all_collectives);
    until(nothing_is_live, NULL, "nothing is live");
    until(no_thread_runs, NULL, "no thread is left");
    expect(standInMisuse(), 0, "misuses");
    expect(standInFreedInUse(), 0, "freed in use");
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "rank") == 0) {
        return run_as_process(argc, argv);
    }
    check_runtime();
    check_threads();
    check_failures();
    check_processes("/proc/self/exe");
    printf("%s: %d wrong\n", failures() == 0 ? "ok" : "FAILED", failures());
    return failures() == 0 ? 0 : 1;
}
