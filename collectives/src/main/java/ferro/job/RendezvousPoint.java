package ferro.job;

import java.util.Optional;
import java.util.OptionalInt;

/** The address and the name by which the ranks of one start of a job find each other. */
public final class RendezvousPoint {
    private final PointValues point;

    private record PointValues(
            Optional<String> key, boolean allLocal, Optional<String> host, OptionalInt port, Optional<String> noHost) {}

    RendezvousPoint(
            Optional<String> key, boolean allLocal, Optional<String> host, OptionalInt port, Optional<String> noHost) {
        point = new PointValues(key, allLocal, host, port, noHost);
    }

    RendezvousPoint withKey(Optional<String> other) {
        return new RendezvousPoint(other, point.allLocal, point.host, point.port, point.noHost);
    }

    /**
     * Returns the key of this start of the job. The key is equal on all ranks of one start and, except by chance,
     * different from the keys of all other starts. The key has at most 64 letters, digits, dots, dashes and
     * underscores, so that it can name a file.
     *
     * @return {@code FERRO_JOB_ID} if it is set, else the key of the launcher, with the generation if all ranks have
     *     the same one and no launcher has chosen the job id; empty if no value is common to all ranks
     */
    public Optional<String> key() {
        return point.key;
    }

    /** {@return whether all ranks are on this host according to the variables} */
    public boolean allLocal() {
        return point.allLocal;
    }

    /**
     * {@return the host of the store: {@code MASTER_ADDR}, without the brackets of an IPv6 address, else the host of
     * rank 0 if the launcher gives it}
     */
    public Optional<String> host() {
        return point.host;
    }

    /**
     * {@return the port of the store: {@code MASTER_PORT}, else a port that all ranks use if a host is given without a
     * port}
     */
    public OptionalInt port() {
        return point.port;
    }

    /** {@return why the launcher gives no host and how to fix it; empty with a host, or if it never gives one} */
    public Optional<String> noHost() {
        return point.noHost;
    }

    @Override
    public String toString() {
        return "RendezvousPoint" + point.toString().substring("PointValues".length());
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RendezvousPoint that && point.equals(that.point);
    }

    @Override
    public int hashCode() {
        return point.hashCode();
    }
}
