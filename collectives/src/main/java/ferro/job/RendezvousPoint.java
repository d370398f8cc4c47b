package ferro.job;

import java.util.Optional;
import java.util.OptionalInt;

/** The address and the name by which the ranks of one start of a job find each other. */
public final class RendezvousPoint {
    private final PointFields point;

    private record PointFields(
            Optional<String> key, boolean allLocal, Optional<String> host, OptionalInt port, Optional<String> noHost) {}

    RendezvousPoint(
            Optional<String> key, boolean allLocal, Optional<String> host, OptionalInt port, Optional<String> noHost) {
        point = new PointFields(key, allLocal, host, port, noHost);
    }

    RendezvousPoint withKey(Optional<String> other) {
        return new RendezvousPoint(other, point.allLocal, point.host, point.port, point.noHost);
    }

    /**
     * Returns the key of this start of the job. The key is equal on all ranks of one start. Except by chance, the keys
     * of all other starts are different. The key has at most 64 letters, digits, dots, dashes and underscores, so that
     * it can name a file.
     *
     * @return {@code FERRO_JOB_ID} if that variable is set, else the key of the launcher. The generation is part of the
     *     key if all ranks have the same generation and no launcher has chosen the job id. Empty if no value is common
     *     to all ranks
     */
    public Optional<String> key() {
        return point.key;
    }

    /** {@return whether all ranks are on this host according to the variables} */
    public boolean allLocal() {
        return point.allLocal;
    }

    /**
     * {@return the host of the store; {@code MASTER_ADDR} without the brackets of an IPv6 address, else the host of
     * rank 0 if the launcher gives this host}
     */
    public Optional<String> host() {
        return point.host;
    }

    /** {@return the port of the store; {@code MASTER_PORT}, else a port that all ranks use if only a host is given} */
    public OptionalInt port() {
        return point.port;
    }

    /**
     * {@return why the launcher gives no host, with a remedy; empty with a host, or if the launcher never gives a host}
     */
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
