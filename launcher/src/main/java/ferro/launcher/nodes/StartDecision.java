package ferro.launcher.nodes;

import com.google.gson.annotations.SerializedName;
import java.util.List;

/**
 * The decision to start the ranks or to refuse the start. Each start has one decision. The launcher that decides first
 * publishes the decision for all launchers as JSON. Launchers of other builds read the decision too, so the names
 * in the JSON stay.
 *
 * @param refusal why no rank starts; empty if ranks start
 * @param code    exit code of all launchers if no rank starts
 * @param entries entries of all launchers, by node; empty if no rank starts
 */
record StartDecision(
        String refusal, int code, @SerializedName("cards") List<LauncherEntry> entries) {
    static StartDecision of(List<LauncherEntry> entries) {
        return new StartDecision("", 0, List.copyOf(entries));
    }

    static StartDecision refused(String why, int code) {
        return new StartDecision(why, code, List.of());
    }

    boolean begins() {
        return refusal.isEmpty();
    }
}
