package ferro.backend.nccl.ffi;

/** Groups of newer NCCL functions, found by name and not by version, since RCCL numbers its releases differently. */
public enum NcclCapability {
    /** ncclSend and ncclRecv, 2.7.3. */
    SEND_RECV(NcclSendRecvFunctions.class, "ncclSend and ncclRecv (NCCL >= 2.7.3)"),
    /** ncclCommInitRankConfig and ncclCommFinalize, 2.14.3. */
    CONFIGURED(NcclConfigFunctions.class, "ncclCommInitRankConfig and ncclCommFinalize (NCCL >= 2.14.3)"),
    /** ncclGetLastError, 2.16.2. */
    LAST_ERROR(NcclLastErrorFunction.class, "ncclGetLastError (NCCL >= 2.16.2)"),
    /** ncclAlltoAll, ncclGather and ncclScatter, 2.28.3. */
    ROOTED(NcclRootedFunctions.class, "ncclAlltoAll, ncclGather and ncclScatter (NCCL >= 2.28.3)");

    private final Class<?> functions;
    private final String text;

    NcclCapability(Class<?> functions, String text) {
        this.functions = functions;
        this.text = text;
    }

    /** {@return the class with the native methods of these functions} */
    public Class<?> functions() {
        return functions;
    }

    /** {@return the functions and the first release that has them, for messages} */
    @Override
    public String toString() {
        return text;
    }
}
