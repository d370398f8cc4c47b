package ferro.backend.nccl.ffi;

/** Function since NCCL 2.16.2; check {@link NcclCapability#LAST_ERROR} first. */
public final class NcclLastErrorFunction {
    private NcclLastErrorFunction() {}

    public static native String ncclGetLastError(long comm);
}
