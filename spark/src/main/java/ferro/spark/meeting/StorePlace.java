package ferro.spark.meeting;

import java.io.Serializable;

/**
 * Where the ranks of one attempt meet; the same on all of them.
 *
 * @param host       where the driver serves the store
 * @param port       its port
 * @param job        name of the job
 * @param generation number of the attempt
 * @param secured    whether ranks derive a secret
 */
public record StorePlace(String host, int port, String job, int generation, boolean secured) implements Serializable {
    /** Returns the id of the job and its attempt, as it stands on the wire. */
    public String jobId() {
        return job + "." + generation;
    }

    /** Returns host and port. */
    public String endpoint() {
        return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
    }
}
