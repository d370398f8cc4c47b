package ferro.launcher.nodes;

import java.util.List;

/**
 * The decision that starts the ranks or refuses to; there is one per job. The first launcher that knows it tells all others.
 *
 * @param refusal why no rank starts; empty if ranks start
 * @param code    exit code of all launchers then
 * @param cards   cards of all nodes, by number; empty if no rank starts
 */
record StartSignal(String refusal, int code, List<NodeCard> cards) {
    static StartSignal of(List<NodeCard> cards) {
        return new StartSignal("", 0, List.copyOf(cards));
    }

    static StartSignal refused(String why, int code) {
        return new StartSignal(why, code, List.of());
    }

    boolean begins() {
        return refusal.isEmpty();
    }
}
