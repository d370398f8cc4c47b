package ferro.job;

import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The address and the name by which the ranks of one start of a job find each other.
 *
 * @param key      equal on all ranks of one start of one job and, except by chance, different from the keys of all
 *     other starts. The key has at most 64 letters, digits, dots, dashes and underscores, so that it can name a file.
 *     The key is {@code FERRO_JOB_ID} if that is set, and empty if no value common to all ranks is known
 * @param allLocal whether it is known that all ranks are on this host
 * @param host     host of the store: {@code MASTER_ADDR}, without the brackets of an IPv6 address, else the host of
 *     rank 0 if the launcher gives it
 * @param port     port of the store: {@code MASTER_PORT}, else a port that all ranks use if a host is known without a
 *     port
 * @param noHost   why there is no host and how to fix it, if the launcher could have given one
 */
public record RendezvousPoint(
        Optional<String> key, boolean allLocal, Optional<String> host, OptionalInt port, Optional<String> noHost) {
    /**
     * Rejects null.
     *
     * @param key      name of this start of the job
     * @param allLocal whether it is known that all ranks are on this host
     * @param host     host of the store
     * @param port     port of the store
     * @param noHost   why there is no host
     */
    public RendezvousPoint {
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(host, "host");
        Objects.requireNonNull(port, "port");
        Objects.requireNonNull(noHost, "noHost");
    }
}
