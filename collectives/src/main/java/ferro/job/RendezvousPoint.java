package ferro.job;

import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;

/** The address and the name by which the ranks of one start of a job find each other. */
public final class RendezvousPoint {
    private final Optional<String> key;
    private final boolean allLocal;
    private final Optional<String> host;
    private final OptionalInt port;
    private final Optional<String> noHost;

    RendezvousPoint(
            Optional<String> key, boolean allLocal, Optional<String> host, OptionalInt port, Optional<String> noHost) {
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(host, "host");
        Objects.requireNonNull(port, "port");
        Objects.requireNonNull(noHost, "noHost");
        this.key = key;
        this.allLocal = allLocal;
        this.host = host;
        this.port = port;
        this.noHost = noHost;
    }

    RendezvousPoint withKey(Optional<String> other) {
        return new RendezvousPoint(other, allLocal, host, port, noHost);
    }

    /**
     * Returns the key of this start of the job. The key is equal on all ranks of one start and, except by chance,
     * different from the keys of all other starts. The key has at most 64 letters, digits, dots, dashes and
     * underscores, so that it can name a file.
     *
     * @return {@code FERRO_JOB_ID} with the generation, if that is set; empty if no value common to all ranks is known
     */
    public Optional<String> key() {
        return key;
    }

    /** {@return whether it is known that all ranks are on this host} */
    public boolean allLocal() {
        return allLocal;
    }

    /**
     * {@return the host of the store: {@code MASTER_ADDR}, without the brackets of an IPv6 address, else the host of
     * rank 0 if the launcher gives it}
     */
    public Optional<String> host() {
        return host;
    }

    /**
     * {@return the port of the store: {@code MASTER_PORT}, else a port that all ranks use if a host is known without a
     * port}
     */
    public OptionalInt port() {
        return port;
    }

    /** {@return why there is no host and how to fix it, if the launcher could have given one} */
    public Optional<String> noHost() {
        return noHost;
    }

    @Override
    public String toString() {
        return "RendezvousPoint[key=" + key + ", allLocal=" + allLocal + ", host=" + host + ", port=" + port
                + ", noHost=" + noHost + "]";
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RendezvousPoint that && values().equals(that.values());
    }

    @Override
    public int hashCode() {
        return values().hashCode();
    }

    private List<Object> values() {
        return List.of(key, allLocal, host, port, noHost);
    }
}
