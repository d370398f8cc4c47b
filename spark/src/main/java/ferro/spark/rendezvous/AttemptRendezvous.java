package ferro.spark.rendezvous;

import ferro.group.JoinOptions;
import java.io.Serializable;

/**
 * The location at which the ranks of one attempt find each other. All ranks of the attempt have the same location.
 *
 * @param host       the host on which the driver serves the store; empty if rank 0 serves the store
 * @param port       the port of the store
 * @param job        the name of the job
 * @param generation the number of the attempt
 * @param secured    true if the ranks derive a secret
 */
public record AttemptRendezvous(String host, int port, String job, int generation, boolean secured)
        implements Serializable {
    /**
     * Returns the location of an attempt whose rank 0 serves the store. Spark's barrier sends the address of rank 0 to
     * the ranks.
     */
    static AttemptRendezvous atRankZero(String job, int generation, boolean secured) {
        return new AttemptRendezvous("", 0, job, generation, secured);
    }

    /** Returns whether the driver serves the store. */
    public boolean isDriver() {
        return !host.isEmpty();
    }

    /** Returns the wire form of the job's id, which contains the number of the attempt. */
    public String jobId() {
        return JoinOptions.jobId(job, generation);
    }

    /** Returns the host and the port of the store, separated by a colon. */
    public String endpoint() {
        return (host.indexOf(':') >= 0 && !host.startsWith("[") ? "[" + host + "]" : host) + ":" + port;
    }
}
