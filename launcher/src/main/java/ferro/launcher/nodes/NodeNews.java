package ferro.launcher.nodes;

/** What a launcher hears of the others while its ranks run; called on threads that must not be kept. */
public interface NodeNews {
    /** All ranks of the job have joined. */
    void allJoined();

    /**
     * A rank of another node has failed, or another node is lost; told once.
     *
     * @param code exit code of the rank
     */
    void failedElsewhere(int code);

    /**
     * Another launcher was sent a signal.
     *
     * @param name  without SIG
     * @param times how many signals that launcher was sent by then
     */
    void signalledElsewhere(String name, int times);
}
