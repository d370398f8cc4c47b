package ferro.launcher.nodes;

import java.util.List;

/**
 * The decision to start the ranks or to refuse the start. Each start has one decision. The launcher that decides first
 * publishes the decision for all launchers.
 *
 * @param refusal why no rank starts; empty if ranks start
 * @param code    exit code of all launchers if no rank starts
 * @param cards   entries of all launchers, by node; empty if no rank starts
 */
record StartResult(String refusal, int code, List<LauncherEntry> cards) {
    static StartResult of(List<LauncherEntry> cards) {
        return new StartResult("", 0, List.copyOf(cards));
    }

    static StartResult refused(String why, int code) {
        return new StartResult(why, code, List.of());
    }

    boolean begins() {
        return refusal.isEmpty();
    }
}
