package ferro.launcher.nodes;

/**
 * A node whose launcher has not reported how its ranks ended.
 *
 * @param card card of the node's launcher
 * @param why  what was seen, for example that its connection has ended
 */
public record LostNode(NodeCard card, String why) {
    /**
     * {@return this in one line, for example {@code node 1 (host b, 10.0.0.2) is lost, its rank 1 with it: its
     * connection has ended}}
     */
    public String said() {
        return card + " is lost with its " + card.rankNumbers() + ": " + why;
    }
}
