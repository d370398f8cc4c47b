package ferro.backend.nccl.ffi;

/** Functions since NCCL 2.14.3; check {@link NcclCapability#CONFIGURED} first. */
public final class NcclConfigFunctions {
    private NcclConfigFunctions() {}

    public static native int ncclCommInitRankConfig(
            long comm, int ranks, NcclIdStruct.ByValue id, int rank, long config);

    public static native int ncclCommFinalize(long comm);
}
