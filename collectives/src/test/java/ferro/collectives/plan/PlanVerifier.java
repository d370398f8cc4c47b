package ferro.collectives.plan;

import ferro.CollectiveKind;
import java.util.List;
import java.util.Optional;

/**
 * Proves the plans of all ranks of one operation together, without running them and without trusting how they were made.
 *
 * <p>It proves: every step lies inside its regions and depends only on steps before it; the messages of each link agree in
 * number, order and chunks; the plans end with sends that never wait, and also where a rank has one send and one receive at
 * a time, strictly in order, and a send ends only with its receive (what a plain back end offers); no step uses a chunk that
 * another step may be writing; nothing unset is read, and every result is what the collective promises, each rank's part
 * counted exactly once, completed by the last combine and, for an all-reduce, combined by the same expression everywhere; the
 * result of a scan is combined in rank order, and completed by no combine; a
 * reduction reads each part of an operand once. All of this is also proved for an
 * operand and a result in the same memory.
 *
 * <p>One execution represents all: which steps may start depends only on which steps are finished, and without races the
 * order of independent steps changes no value.
 */
public final class PlanVerifier {
    private PlanVerifier() {}

    /**
     * Returns what is wrong with plans.
     *
     * @param kind        as {@link ferro.Collective#kind}
     * @param plansByRank the plan of each rank
     * @param root        the operation's root; 0 where it has none
     * @return empty if they are proved; else a text that names rank and step
     * @throws IllegalArgumentException if there is no plan, or the root is no rank
     */
    public static Optional<String> verify(CollectiveKind kind, List<Plan> plansByRank, int root) {
        PlanSet plans = new PlanSet(kind, List.copyOf(plansByRank), root);
        return PlanShape.whyNot(plans).or(() -> proveRun(plans)).map(why -> plans + ": " + why);
    }

    /**
     * Returns where plans combine the operands of a result in another order than that of the ranks.
     *
     * @param kind        as {@link ferro.Collective#kind}
     * @param plansByRank the plan of each rank, which are proved
     * @param root        the operation's root; 0 where it has none
     * @return empty if every result is in the order of the ranks, with any brackets
     */
    public static Optional<String> whyNotInRankOrder(CollectiveKind kind, List<Plan> plansByRank, int root) {
        return PlanResults.whyNotInRankOrder(new PlanSet(kind, List.copyOf(plansByRank), root));
    }

    /**
     * Returns how plans combine, as hashes of expressions: equal ones give the same bits.
     *
     * @param kind        as {@link ferro.Collective#kind}
     * @param plansByRank the plan of each rank, which are proved
     * @return by rank and chunk; 0 where a rank has no result
     */
    public static long[][] expressions(CollectiveKind kind, List<Plan> plansByRank) {
        return PlanResults.expressions(new PlanSet(kind, List.copyOf(plansByRank), 0));
    }

    /** Proves the run of plans whose every step is valid by itself. */
    private static Optional<String> proveRun(PlanSet plans) {
        PlanLinks links = new PlanLinks(plans);
        return links.whyNot()
                .or(() -> PlanLiveness.whyNot(plans, links))
                .or(() -> proveMemory(plans, false))
                .or(() -> plans.canBeInPlace()
                        ? proveMemory(plans, true).map(why -> why + " (in place)")
                        : Optional.empty())
                .or(() -> PlanShape.readTwice(plans));
    }

    private static Optional<String> proveMemory(PlanSet plans, boolean inPlace) {
        return PlanRaces.whyNot(plans, inPlace).or(() -> PlanResults.whyNot(plans, inPlace));
    }
}
