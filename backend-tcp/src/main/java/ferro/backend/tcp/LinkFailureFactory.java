package ferro.backend.tcp;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.backend.tcp.mesh.ConnectionPurpose;
import ferro.backend.tcp.net.ShortageDetector;
import java.io.IOException;

/**
 * Creates the failures and log texts of one data connection. The texts name the group, the ranks and the lane.
 *
 * @param group name under which the group was joined
 * @param name  name of the group of this connection; differs from {@code group} in a subgroup
 * @param rank  this rank
 * @param peer  rank at the other end of the connection
 * @param lane  lane whose data the connection carries
 */
record LinkFailureFactory(String group, String name, int rank, int peer, ConnectionPurpose lane) {

    FerroException ended(long sequence, String progress, IOException cause) {
        String message = "rank " + rank + " of " + name + " lost rank " + peer + ": their " + lane.label()
                + " connection ended" + (cause == null ? "" : " (" + cause.getMessage() + ")") + ", " + progress
                + "; the output of rank " + peer + " says why";
        Where where = where(lane == ConnectionPurpose.COLLECTIVE ? sequence : -1);
        return new FerroException(Code.PEER_LOST, where, message, cause);
    }

    FerroException corrupted(String progress, IOException cause) {
        String message = "rank " + rank + " of " + name + " refused data from rank " + peer + ": on their "
                + lane.label() + " connection " + cause.getMessage() + ", " + progress
                + "; something between the two ranks, or in one of them, changes bytes: check memory,"
                + " network cards and proxies";
        return new FerroException(Code.PROTOCOL, where(-1), message, cause);
    }

    /**
     * Returns the log text for a new connection. {@code ended} is the failure that ended the old connection; null if
     * the peer replaced the old connection.
     */
    String resumed(int epoch, FerroException ended) {
        String before = ended == null ? "rank " + peer + " replaced the old connection" : endOf(ended);
        return "the " + lane.label() + " connection of rank " + rank + " to rank " + peer + " of " + name
                + " was reconnected (epoch " + epoch + "): " + before;
    }

    private static String endOf(FerroException ended) {
        Throwable cause = ended.getCause();
        return cause == null
                ? "the old connection ended, or its key reached its limit"
                : "the old connection ended (" + cause.getMessage() + ")";
    }

    /** Adds to the failure of a lost connection the reason why the link cannot reconnect. */
    static FerroException redialFailed(FerroException ended, FerroException cause) {
        String more = "; it cannot reconnect: " + cause.getMessage();
        return cause.code() == Code.RESOURCE
                ? new FerroException(Code.RESOURCE, cause.where(), ended.getMessage() + more, cause)
                : with(ended, more);
    }

    /**
     * Adds the number of bytes in flight to the failure of a lost connection. A negative number means that the number
     * of bytes is unknown.
     */
    FerroException underWay(FerroException ended, long bytesThere, long bytesHere) {
        String there = bytesThere < 0 ? "" : bytesThere + " bytes to rank " + peer + " and ";
        return with(
                ended,
                "; " + there + bytesHere + " bytes from " + (bytesThere < 0 ? "rank " + peer : "it")
                        + " were in flight and may be lost, so the link cannot reconnect");
    }

    FerroException notPolled(Exception cause) {
        String message = "the " + lane.label() + " connection of rank " + rank + " to rank " + peer + " of " + name
                + " cannot be polled: " + reason(cause);
        return new FerroException(Code.RESOURCE, own(), message, cause);
    }

    FerroException notWatched(Exception cause) {
        String message = "rank " + rank + " of " + name + " cannot watch data connections: " + reason(cause);
        return new FerroException(Code.RESOURCE, own(), message, cause);
    }

    /**
     * Returns a failure of the mesh with the culprit's rank in this group. The same process has another rank in the
     * mesh.
     */
    FerroException lacking(FerroException ofMesh, int culprit) {
        return new FerroException(ofMesh.code(), where(-1).blaming(culprit), ofMesh.getMessage(), ofMesh.getCause());
    }

    private static String reason(Exception cause) {
        return ShortageDetector.of(cause).orElse(cause.getMessage());
    }

    private Where own() {
        return where(-1).blaming(rank);
    }

    private Where where(long sequence) {
        return Where.of(group, rank).blaming(peer).during("", sequence);
    }

    private static FerroException with(FerroException ended, String more) {
        return new FerroException(ended.code(), ended.where(), ended.getMessage() + more, ended.getCause());
    }
}
