package ferro.launcher.nodes;

/** Events of other launchers that a launcher hears of while its ranks run. No method may block its calling thread. */
public interface NodeNews {
    /** All ranks of the job have joined. */
    void allJoined();

    /**
     * A rank of another node has failed, or another node is lost. Called once.
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
