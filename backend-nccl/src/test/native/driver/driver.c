/*
 * Checks the stand-in libraries from C: sh check.sh OUT builds and runs it.
 *
 *   driver                 everything with ranks as threads
 *   driver processes       everything with ranks as processes
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
    on_threads(1, all_collectives);
    until(nothing_is_live, NULL, "nothing is live");
    until(no_thread_runs, NULL, "no thread is left");
    expect(standInMisuse(), 0, "misuses");
    expect(standInFreedInUse(), 0, "freed in use");
}

int main(int argc, char **argv)
{
    (void) argc;
    (void) argv;
    check_threads();
    printf("%s: %d wrong\n", failures() == 0 ? "ok" : "FAILED", failures());
    return failures() == 0 ? 0 : 1;
}
