package ferro.backend.nccl.comm;

/**
 * The stream that a group communicates on.
 *
 * @param own    whether the group makes one
 * @param handle the caller's stream, if the group makes none
 */
record StreamChoice(boolean own, long handle) {
    static final StreamChoice OWN = new StreamChoice(true, 0);

    static StreamChoice of(long handle) {
        return new StreamChoice(false, handle);
    }
}
