package ferro.backend.nccl.ffi;

/** Functions since NCCL 2.28.3; check {@link NcclCapability#ROOTED} first. */
public final class NcclRootedFunctions {
    private NcclRootedFunctions() {}

    public static native int ncclAlltoAll(long send, long receive, long count, int type, long comm, long stream);

    public static native int ncclGather(
            long send, long receive, long count, int type, int root, long comm, long stream);

    public static native int ncclScatter(
            long send, long receive, long count, int type, int root, long comm, long stream);
}
