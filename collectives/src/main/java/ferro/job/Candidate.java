package ferro.job;

import java.util.Optional;
import java.util.function.Supplier;

/**
 * A family of which at least one variable is there.
 *
 * @param family     whose
 * @param variables  rank and size, as {@code NAME=value}
 * @param ranks      rank and size alone, to compare with another family's
 * @param incomplete what is missing, and the way out; empty if it can be chosen
 * @param job        reads all the variables; throws IllegalArgumentException for one that makes no sense
 */
record Candidate(Family family, String variables, String ranks, Optional<String> incomplete, Supplier<Job> job) {
    static Candidate complete(Family family, Variables variables, String rank, String size, Supplier<Job> job) {
        return new Candidate(family, variables.shown(rank, size), ranks(variables, rank, size), Optional.empty(), job);
    }

    static Candidate half(Family family, String variables, String why) {
        return new Candidate(family, variables, "", Optional.of(why), () -> {
            throw new IllegalArgumentException(why);
        });
    }

    boolean isComplete() {
        return incomplete.isEmpty();
    }

    private static String ranks(Variables variables, String rank, String size) {
        return variables.find(rank).orElse("") + " of " + variables.find(size).orElse("");
    }
}
