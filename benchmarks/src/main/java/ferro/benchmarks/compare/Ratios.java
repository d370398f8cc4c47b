package ferro.benchmarks.compare;

import ferro.benchmarks.compare.Measurement.CoreDistance;
import ferro.benchmarks.compare.Measurement.SizedCall;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Ratios of paired rounds. A ratio is the median time of a contestant, divided by the median time of another contestant
 * in the same round. A round counts only if the machine was in the same state around both measurements.
 */
final class Ratios {
    /**
     * Largest factor between loopback probes of the same state of the machine. The exchange of flags between two cores
     * does not show the states that loopback probes show.
     */
    private static final double SAME_LOOPBACK = 1.25;

    private final Map<SizedCall, Map<String, Map<String, Measurement>>> byItem = new LinkedHashMap<>();
    private final Set<String> names = new LinkedHashSet<>();

    Ratios(List<Measurement> measurements) {
        for (Measurement one : measurements) {
            names.add(one.contestant());
            byItem.computeIfAbsent(one.item(), item -> new LinkedHashMap<>())
                    .computeIfAbsent(one.contestant(), name -> new LinkedHashMap<>())
                    .put(one.run() + " " + one.round(), one);
        }
    }

    /**
     * The result of a comparison of one contestant with another contestant.
     *
     * @param opponent name of the other contestant
     * @param micros   medians of the contestant in the rounds that count
     * @param theirs   medians of the opponent in the rounds that count
     * @param ratio    medians of the ratios in the rounds that count
     */
    record Ratio(String opponent, MedianSummary micros, MedianSummary theirs, MedianSummary ratio) {}

    Set<SizedCall> items() {
        return byItem.keySet();
    }

    /** Returns the names of all contestants, in the order in which they appear. */
    Set<String> contestants() {
        return names;
    }

    Set<String> contestants(SizedCall item) {
        return byItem.getOrDefault(item, Map.of()).keySet();
    }

    /** Returns the times of all rounds, independent of the state of the machine. */
    Optional<MedianSummary> micros(SizedCall item, String contestant) {
        Map<String, Measurement> rounds = rounds(item, contestant);
        return rounds.isEmpty()
                ? Optional.empty()
                : Optional.of(MedianSummary.of(rounds.values().stream()
                        .map(one -> one.times().median())
                        .toList()));
    }

    private Map<String, Measurement> rounds(SizedCall item, String contestant) {
        return byItem.getOrDefault(item, Map.of()).getOrDefault(contestant, Map.of());
    }

    /**
     * Returns the ratio over the rounds in which the machine was in the state {@code nearness} around both
     * measurements; empty without such a round.
     */
    Optional<Ratio> ratio(SizedCall item, String contestant, String opponent, CoreDistance nearness) {
        List<Double> micros = new ArrayList<>();
        List<Double> theirs = new ArrayList<>();
        List<Double> ratios = new ArrayList<>();
        Map<String, Measurement> opposite = rounds(item, opponent);
        rounds(item, contestant).forEach((round, one) -> {
            Measurement other = opposite.get(round);
            if (other != null && comparable(one, other, nearness)) {
                micros.add(one.times().median());
                theirs.add(other.times().median());
                ratios.add(one.times().median() / other.times().median());
            }
        });
        return ratios.isEmpty()
                ? Optional.empty()
                : Optional.of(new Ratio(
                        opponent, MedianSummary.of(micros), MedianSummary.of(theirs), MedianSummary.of(ratios)));
    }

    private static boolean comparable(Measurement one, Measurement other, CoreDistance nearness) {
        double mine = one.loopbackMicros();
        double theirs = other.loopbackMicros();
        return one.nearness() == nearness
                && other.nearness() == nearness
                && mine < SAME_LOOPBACK * theirs
                && theirs < SAME_LOOPBACK * mine;
    }

    /**
     * Returns the ratio to the fastest opponent, over rounds paired with this contestant in the state {@code nearness}.
     * Returns empty if no paired round was in the state.
     */
    Optional<Ratio> best(SizedCall item, String contestant, List<String> opponents, CoreDistance nearness) {
        Ratio best = null;
        for (String opponent : opponents) {
            Ratio next = ratio(item, contestant, opponent, nearness).orElse(null);
            if (next != null
                    && (best == null || next.theirs().middle() < best.theirs().middle())) {
                best = next;
            }
        }
        return Optional.ofNullable(best);
    }
}
