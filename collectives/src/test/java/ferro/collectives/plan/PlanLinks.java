package ferro.collectives.plan;

import ferro.CollectiveKind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Pairs the messages of each link: the k-th send of rank a to rank b arrives at the k-th receive of b from a, because a link
 * keeps order and both lists are posted in order.
 */
final class PlanLinks {
    private final PlanSet plans;
    /** For each rank and peer the positions of the messages between them in the rank's first list. */
    private final List<Map<Integer, List<Integer>>> sends = new ArrayList<>();

    /** The same for the second list. */
    private final List<Map<Integer, List<Integer>>> receives = new ArrayList<>();

    PlanLinks(PlanSet plans) {
        this.plans = plans;
        for (Plan plan : plans.all()) {
            Map<Integer, List<Integer>> sendsByPeer = new HashMap<>();
            for (int i = 0; i < plan.sends().size(); i++) {
                sendsByPeer
                        .computeIfAbsent(plan.sends().get(i).peer(), peer -> new ArrayList<>())
                        .add(i);
            }
            Map<Integer, List<Integer>> receivesByPeer = new HashMap<>();
            for (int i = 0; i < plan.receives().size(); i++) {
                receivesByPeer
                        .computeIfAbsent(plan.receives().get(i).peer(), peer -> new ArrayList<>())
                        .add(i);
            }
            sends.add(sendsByPeer);
            receives.add(receivesByPeer);
        }
    }

    /** Returns the positions in {@code from}'s first list of its sends to {@code to}. */
    List<Integer> sends(int from, int to) {
        return sends.get(from).getOrDefault(to, List.of());
    }

    /** Returns the positions in {@code to}'s second list of its receives from {@code from}. */
    List<Integer> receives(int from, int to) {
        return receives.get(to).getOrDefault(from, List.of());
    }

    Optional<String> whyNot() {
        return PlanSet.first(plans.size(), from -> PlanSet.first(plans.size(), to -> ofLink(from, to)));
    }

    private Optional<String> ofLink(int from, int to) {
        List<Integer> sends = sends(from, to);
        List<Integer> receives = receives(from, to);
        for (int i = 0; i < Math.min(sends.size(), receives.size()); i++) {
            Step.Send send = plans.of(from).sends().get(sends.get(i));
            Step.WriteStep arrival = plans.of(to).receives().get(receives.get(i));
            int unit = plans.hasParts() ? plans.unit() : 1;
            boolean same = plans.numbersAgree()
                    ? send.chunk() == arrival.chunk()
                    : plans.kind() == CollectiveKind.BARRIER || send.chunk() % unit == arrival.chunk() % unit;
            if (!same || send.chunks() != arrival.chunks()) {
                return Optional.of(
                        plans.send(from, sends.get(i)) + " arrives at " + plans.arrival(to, receives.get(i)));
            }
        }
        if (sends.size() > receives.size()) {
            return Optional.of(plans.send(from, sends.get(receives.size())) + " is never received");
        }
        if (receives.size() > sends.size()) {
            return Optional.of(
                    plans.arrival(to, receives.get(sends.size())) + " waits for what rank " + from + " never sends");
        }
        return Optional.empty();
    }
}
