package ferro.launcher.nodes;

import java.util.List;

/**
 * What the first launchers to know tell all others before a rank starts; there is one per job.
 *
 * @param refusal why no rank starts; empty if ranks start
 * @param code    exit code of all launchers then
 * @param cards   of all nodes, by number; empty if no rank starts
 */
record Start(String refusal, int code, List<NodeCard> cards) {
    static Start of(List<NodeCard> cards) {
        return new Start("", 0, List.copyOf(cards));
    }

    static Start refused(String why, int code) {
        return new Start(why, code, List.of());
    }

    boolean begins() {
        return refusal.isEmpty();
    }
}
