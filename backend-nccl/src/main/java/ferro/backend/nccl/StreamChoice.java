package ferro.backend.nccl;

/**
 * Which stream a group communicates on.
 *
 * @param own    whether the group makes one
 * @param handle the caller's, if it does not
 */
record StreamChoice(boolean own, long handle) {
    static final StreamChoice OWN = new StreamChoice(true, 0);

    static StreamChoice of(long handle) {
        return new StreamChoice(false, handle);
    }
}
