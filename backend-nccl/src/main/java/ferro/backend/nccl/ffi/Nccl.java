package ferro.backend.nccl.ffi;

/**
 * Functions that every supported release of NCCL has, in the order of nccl.h. Newer functions are in {@link
 * NcclConfigFunctions}, {@link NcclLastErrorFunction}, {@link NcclRootedFunctions} and {@link NcclSendRecvFunctions}.
 *
 * <p>Handles and device pointers are longs. If NCCL may write an out-parameter after the call (inside a group, or
 * without blocking), the parameter is the address of a {@link NativeLongs}. All other out-parameters are arrays of one
 * element. {@code LibraryLoader} must bind the functions before the first call.
 */
public final class Nccl {
    private Nccl() {}

    public static native int ncclGetVersion(int[] version);

    public static native int ncclGetUniqueId(byte[] id);

    public static native int ncclCommInitRank(long comm, int ranks, NcclIdStruct.ByValue id, int rank);

    public static native int ncclCommInitAll(long comms, int count, int[] devices);

    public static native int ncclCommDestroy(long comm);

    public static native int ncclCommAbort(long comm);

    public static native String ncclGetErrorString(int result);

    public static native int ncclCommGetAsyncError(long comm, int[] result);

    public static native int ncclReduce(
            long send, long receive, long count, int type, int op, int root, long comm, long stream);

    public static native int ncclBroadcast(
            long send, long receive, long count, int type, int root, long comm, long stream);

    public static native int ncclAllReduce(
            long send, long receive, long count, int type, int op, long comm, long stream);

    public static native int ncclReduceScatter(
            long send, long receive, long receiveCount, int type, int op, long comm, long stream);

    public static native int ncclAllGather(long send, long receive, long sendCount, int type, long comm, long stream);

    public static native int ncclGroupStart();

    public static native int ncclGroupEnd();
}
