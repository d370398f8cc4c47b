/* Settings of the stand-in NCCL: first from the environment, then from the test's hooks. */
#include "nccl.h"

enum { DEFAULT_CONNECT_MICROS = 1000 };

NcclSettings nccl_settings;

static void read_environment(void)
{
    standInNcclVersion((int) core_variable("STANDIN_VERSION", nccl_built_as));
    standInNcclLatency((int) core_variable("STANDIN_NCCL_LATENCY_US", 0));
    standInConnectTime((int) core_variable("STANDIN_CONNECT_US", DEFAULT_CONNECT_MICROS));
    standInHang((int) core_variable("STANDIN_HANG", 0));
    standInMismatchHangs((int) core_variable("STANDIN_MISMATCH_HANGS", 0));
    standInMismatchTruncates((int) core_variable("STANDIN_MISMATCH_TRUNCATES", 0));
    standInRemoteErrors((int) core_variable("STANDIN_REMOTE_ERRORS", 0));
    standInSilentDeaths((int) core_variable("STANDIN_SILENT_DEATHS", 0));
    standInEarlyReturns((int) core_variable("STANDIN_EARLY_RETURNS", 0));
    standInTail((int) core_variable("STANDIN_TAIL_US", 0));
    standInAllowDuplicates((int) core_variable("STANDIN_ALLOW_DUPLICATES", 0));
    standInAbortHangs((int) core_variable("STANDIN_ABORT_HANGS", 0));
    standInCallDwell(0);
}

__attribute__((constructor)) static void load(void)
{
    read_environment();
    core_on_reset(read_environment);
}

EXPORT void standInNcclVersion(int version)
{
    atomic_store(&nccl_settings.version, version);
}

EXPORT void standInNcclLatency(int micros)
{
    atomic_store(&nccl_settings.latency_micros, micros);
}

EXPORT void standInConnectTime(int micros)
{
    atomic_store(&nccl_settings.connect_micros, micros);
}

EXPORT void standInCallDwell(int micros)
{
    atomic_store(&nccl_settings.dwell_micros, micros);
}

EXPORT void standInHang(int on)
{
    atomic_store(&nccl_settings.hang, on);
}

EXPORT void standInMismatchHangs(int on)
{
    atomic_store(&nccl_settings.mismatch_hangs, on);
}

EXPORT void standInMismatchTruncates(int on)
{
    atomic_store(&nccl_settings.mismatch_truncates, on);
}

EXPORT void standInRemoteErrors(int on)
{
    atomic_store(&nccl_settings.remote_errors, on);
}

EXPORT void standInSilentDeaths(int on)
{
    atomic_store(&nccl_settings.silent_deaths, on);
}

EXPORT void standInEarlyReturns(int on)
{
    atomic_store(&nccl_settings.early_returns, on);
}

EXPORT void standInTail(int micros)
{
    atomic_store(&nccl_settings.tail_micros, micros);
}

EXPORT void standInAllowDuplicates(int on)
{
    atomic_store(&nccl_settings.allow_duplicates, on);
}

EXPORT void standInAbortHangs(int on)
{
    atomic_store(&nccl_settings.abort_hangs, on);
}

EXPORT int standInEcho(int before, UniqueId id, int after)
{
    uint32_t hash = (uint32_t) before;
    for (size_t i = 0; i < sizeof id.bytes; i++) {
        hash = 31 * hash + id.bytes[i];
    }
    return (int) (31 * hash + (uint32_t) after);
}
