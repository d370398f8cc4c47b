package ferro.job;

import java.util.Optional;
import java.util.function.Supplier;

/**
 * A family of variables, at least one of which is set.
 *
 * @param family     family of the variables
 * @param variables  rank and size, as {@code NAME=value}
 * @param ranks      rank and size alone, to compare them with the values of another family
 * @param incomplete what is missing and how to fix it; empty if the family can be chosen
 * @param job        reads all variables; throws IllegalArgumentException for an invalid variable
 */
record LauncherCandidate(
        LauncherKind family, String variables, String ranks, Optional<String> incomplete, Supplier<RankOfJob> job) {
    static LauncherCandidate complete(
            LauncherKind family, Variables variables, String rank, String size, Supplier<RankOfJob> job) {
        return new LauncherCandidate(
                family, variables.shown(rank, size), ranks(variables, rank, size), Optional.empty(), job);
    }

    /** Makes an incomplete candidate; {@code why} follows the variables that are set. */
    static LauncherCandidate half(LauncherKind family, Variables variables, String why, String... names) {
        String seen = variables.shown(names);
        return new LauncherCandidate(family, seen, "", Optional.of(seen + why), () -> {
            throw new IllegalArgumentException(seen + why);
        });
    }

    boolean isComplete() {
        return incomplete.isEmpty();
    }

    private static String ranks(Variables variables, String rank, String size) {
        return variables.find(rank).orElse("") + " of " + variables.find(size).orElse("");
    }
}
