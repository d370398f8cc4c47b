package ferro.backend.nccl.ffi;

/** Functions since NCCL 2.7.3; check {@link NcclCapability#SEND_RECV} first. */
public final class NcclSendRecvFunctions {
    private NcclSendRecvFunctions() {}

    public static native int ncclSend(long send, long count, int type, int peer, long comm, long stream);

    public static native int ncclRecv(long receive, long count, int type, int peer, long comm, long stream);
}
