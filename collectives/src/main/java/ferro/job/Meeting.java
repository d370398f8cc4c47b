package ferro.job;

import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Where, and under which name, the ranks of one start of a job find each other.
 *
 * @param key      equal on all ranks of one start of one job and, but for chance, of no other: at most 64 letters, digits,
 *                 dots, dashes and underscores, so that it may name a file. {@code FERRO_JOB_ID} where that is set; empty where
 *                 nothing is known that all ranks have in common
 * @param allLocal whether it is known that all ranks are on this host
 * @param host     of the store: {@code MASTER_ADDR}, without the brackets of an IPv6 address, else the host of rank 0 where
 *                 the launcher tells it
 * @param port     of the store: {@code MASTER_PORT}, else the one that all ranks take where a host is known without one
 * @param noHost   why there is no host and what to do about it, where the launcher could have told one
 */
public record Meeting(
        Optional<String> key, boolean allLocal, Optional<String> host, OptionalInt port, Optional<String> noHost) {
    /**
     * Refuses null.
     *
     * @param key      name of this start of the job
     * @param allLocal whether it is known that all ranks are on this host
     * @param host     of the store
     * @param port     of the store
     * @param noHost   why there is no host
     */
    public Meeting {
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(host, "host");
        Objects.requireNonNull(port, "port");
        Objects.requireNonNull(noHost, "noHost");
    }
}
