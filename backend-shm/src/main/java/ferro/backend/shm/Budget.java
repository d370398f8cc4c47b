package ferro.backend.shm;

/** Counts the shared memory that one rank has taken of what it may take, over all its groups. Thread-safe. */
final class Budget implements AutoCloseable {
    private long taken;

    /**
     * Takes memory from the budget.
     *
     * @param bytes number of bytes
     * @param most  most bytes that the rank may take in all
     * @return bytes that the rank has taken already, if this is too much; else -1
     */
    synchronized long take(long bytes, long most) {
        if (bytes > most - taken) {
            return taken;
        }
        taken += bytes;
        return -1;
    }

    synchronized void giveBack(long bytes) {
        taken -= bytes;
    }

    /** Does nothing: every owner of taken memory has given it back. */
    @Override
    public void close() {}
}
