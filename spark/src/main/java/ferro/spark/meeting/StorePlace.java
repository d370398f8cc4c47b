package ferro.spark.meeting;

import ferro.group.JoinOptions;
import java.io.Serializable;

/**
 * Where the ranks of one attempt meet; the same on all of them.
 *
 * @param host       where the driver serves the store; empty if rank 0 does
 * @param port       its port
 * @param job        name of the job
 * @param generation number of the attempt
 * @param secured    whether ranks derive a secret
 */
public record StorePlace(String host, int port, String job, int generation, boolean secured) implements Serializable {
    /** Returns the place of ranks that meet at rank 0, whose address they learn of Spark. */
    static StorePlace atRankZero(String job, int generation, boolean secured) {
        return new StorePlace("", 0, job, generation, secured);
    }

    /** Returns whether the driver serves the store. */
    public boolean isDriver() {
        return !host.isEmpty();
    }

    /** Returns the id of the job and its attempt, as it stands on the wire. */
    public String jobId() {
        return JoinOptions.jobId(job, generation);
    }

    /** Returns host and port. */
    public String endpoint() {
        return (host.indexOf(':') >= 0 && !host.startsWith("[") ? "[" + host + "]" : host) + ":" + port;
    }
}
