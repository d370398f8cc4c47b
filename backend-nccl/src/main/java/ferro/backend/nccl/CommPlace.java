package ferro.backend.nccl;

import ferro.FerroException.Where;

/**
 * Who a communicator is, for messages, threads and the place of a failure.
 *
 * @param group     name
 * @param rank      own rank
 * @param worldSize number of ranks
 * @param device    ordinal
 */
record CommPlace(String group, int rank, int worldSize, int device) {
    /** Returns the name of a thread of this communicator. */
    String threadName(String role) {
        return "ferro-" + group + "-" + rank + "-" + role;
    }

    /** Returns the place of a failure. */
    Where where(NcclOperation operation, long elapsedNanos) {
        return new Where(group, rank, "", operation.label(), -1, -1, 0, elapsedNanos, 0);
    }

    /** Returns how a message begins. */
    String during(NcclOperation operation) {
        return operation.label() + " on " + this;
    }

    @Override
    public String toString() {
        return "group \"" + group + "\" rank " + rank;
    }
}
