package ferro.spi;

/** A rendezvous store that this process serves. Any thread may call the methods. */
public interface ServedStore extends AutoCloseable {
    /**
     * {@return the address by which the other ranks reach the store: host and port, {@code 10.0.0.1:29500}; an IPv6
     * address is in brackets}
     */
    String endpoint();

    /** Ends the store, unless a group of this context still uses the store. Idempotent. */
    @Override
    void close();
}
