package ferro.backend.shm;

/** How much shared memory one rank has taken of what it may take, over all its groups. Thread-safe. */
final class Budget implements AutoCloseable {
    private long taken;

    /**
     * Takes some.
     *
     * @param bytes how much
     * @param most  what the rank may take in all
     * @return how much it has taken already, if this is too much; else -1
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

    /** Nothing to end: whoever took something has given it back. */
    @Override
    public void close() {}
}
