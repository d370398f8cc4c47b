package ferro.collectives.plan;

import static ferro.CollectiveKind.ALL_GATHER;
import static ferro.CollectiveKind.ALL_REDUCE;
import static ferro.CollectiveKind.ALL_TO_ALL;
import static ferro.CollectiveKind.BARRIER;
import static ferro.CollectiveKind.BROADCAST;
import static ferro.CollectiveKind.EXCLUSIVE_SCAN;
import static ferro.CollectiveKind.GATHER;
import static ferro.CollectiveKind.REDUCE;
import static ferro.CollectiveKind.REDUCE_SCATTER;
import static ferro.CollectiveKind.SCAN;
import static ferro.CollectiveKind.SCATTER;
import static ferro.collectives.plan.Region.IN;
import static ferro.collectives.plan.Region.OUT;
import static ferro.collectives.plan.Region.SCRATCH;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CollectiveKind;
import ferro.collectives.plan.Step.Receive;
import ferro.collectives.plan.Step.ReceiveCombine;
import ferro.collectives.plan.Step.Send;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Plans with one fault each; every one must be refused with a text that names rank and step. */
class PlanVerifierTest {
    @ParameterizedTest(name = "{0}")
    @MethodSource({"orders", "combines", "scans", "messages", "deadlocks", "memory", "others"})
    void everyFaultyPlanIsRefused(String what, Plans wrong, String parts) {
        String why = PlanVerifier.verify(wrong.kind, wrong.plans, 0).orElse("proved");
        for (String part : parts.split(" \\.\\.\\. ")) {
            assertTrue(why.contains(part), () -> "\"" + part + "\" is not in: " + why);
        }
    }

    private static Arguments row(String what, Plans wrong, String parts) {
        return Arguments.of(what, wrong, parts);
    }

    static Stream<Arguments> orders() {
        return Stream.of(
                row(
                        "swapped rounds",
                        of(ALL_REDUCE, "ring", 4).sends(1, sends -> Collections.swap(sends, 0, 1)),
                        "rank 1 send 0 (to 2, OUT chunk 0) arrives at rank 2 receive 2 (combine from 1, OUT chunk 1)"),
                row(
                        "messages in another order than their receives",
                        of(SCATTER, "binomial", 8).chunks(4, 7, 1),
                        "rank 4 send 0 (to 6, SCRATCH chunk 7) arrives at rank 6 receive 0"),
                row(
                        "a send that does not wait for the combine into its chunk",
                        of(ALL_REDUCE, "ring", 4).after(2, 2, 0, 1),
                        "rank 2 receive ... is not ordered with rank 2 send 2"),
                row(
                        "a receive over a chunk that a send still reads",
                        of(ALL_REDUCE, "ring", 4).receives(3, receives -> {
                            int last = receives.size() - 1;
                            Step.WriteStep step = receives.get(last);
                            receives.set(
                                    last,
                                    new Receive(
                                            2, step.region(), step.chunk(), step.chunks(), 0, step.afterReceives()));
                        }),
                        "rank 3 receive 9 ... not ordered with rank 3 send"),
                row(
                        "two combines into one chunk without an order",
                        of(REDUCE, "linear", 4).receive(0, 2, last(2, OUT, 1)),
                        "rank 0 receive 2 (combine from 2, OUT chunk 0) is not ordered with"),
                row(
                        "a dependency on a later step",
                        of(ALL_GATHER, "ring", 3).after(1, 0, 1, 1),
                        "rank 1 send 0 ... waits for 1 sends, only 0 are before it"),
                row(
                        "plans that are wrong only in place",
                        each(
                                ALL_REDUCE,
                                2,
                                (rank, plan) -> plan.copy(IN, OUT, 0, 1)
                                        .send(1 - rank, IN, 0, 1)
                                        .receiveCombine(1 - rank, OUT, 0, 1)),
                        "rank 0 receive 1 ... not ordered with rank 0 send 0 ... (in place)"));
    }

    static Stream<Arguments> combines() {
        return Stream.of(
                row(
                        "a part that is counted twice",
                        of(REDUCE, "linear", 3)
                                .sends(1, sends -> sends.add(new Send(0, IN, 0, 1, 0, 0)))
                                .receives(0, receives -> receives.add(last(1, OUT, 3))),
                        "rank 0 receive 3 ... counts a rank twice"),
                row(
                        "a combine that completes too early",
                        of(ALL_REDUCE, "ring", 3).completes(1, 2, true),
                        "rank 2 receive ... combines what is complete"),
                row(
                        "a result that no combine completes",
                        of(REDUCE, "linear", 3).completes(0, 2, false),
                        "rank 0 ends after receive 2 ... but no combine has completed it"),
                row(
                        "a part that is left out",
                        of(REDUCE, "linear", 3)
                                .sends(1, List::clear)
                                .receives(0, receives -> receives.remove(1))
                                .receive(0, 1, last(2, OUT, 1)),
                        "rank 0 ends after receive 1 ... of ranks {0, 2}, need chunk 0 of ranks {0, 1, 2}"),
                row(
                        "a combine into unset memory",
                        of(REDUCE, "linear", 2)
                                .receives(0, List::clear)
                                .receives(0, receives -> receives.add(last(1, OUT, 0))),
                        "rank 0 receive 0 ... combines into what nothing has set"),
                row(
                        "a local combine of the operand",
                        each(
                                ALL_REDUCE,
                                2,
                                (rank, plan) -> plan.send(1 - rank, IN, 0, 1)
                                        .receive(1 - rank, OUT, 0, 1)
                                        .combine(IN, OUT, 0, 1)),
                        "rank 0 receive 1 ... combines the operand"),
                row(
                        "a local combine that does not wait for what it reads",
                        of(REDUCE_SCATTER, "linearDoubling", 4).receives(0, receives -> {
                            int last = receives.size() - 1;
                            Step.LocalCombine step = (Step.LocalCombine) receives.get(last);
                            receives.set(
                                    last,
                                    new Step.LocalCombine(
                                            step.from(), step.region(), 0, 1, 0, 2, step.completes(), false));
                        }),
                        "rank 0 receive 4 (combine from SCRATCH, OUT chunk 0) is not ordered with rank 0 receive"),
                row(
                        "results that ranks combine in different ways",
                        each(ALL_REDUCE, 3, (rank, plan) -> {
                            plan.copy(IN, OUT, 0, 1);
                            for (int i = 1; i < 3; i++) {
                                plan.send((rank + i) % 3, IN, 0, 1).receiveCombine((rank + 3 - i) % 3, OUT, 0, 1);
                            }
                        }),
                        "rank 1 ends after receive 2 ... combined in another way than on rank 0"));
    }

    static Stream<Arguments> scans() {
        PlanBuilder wrong = new PlanBuilder("chain", 1, ChunkExtent.all(1), ChunkExtent.all(1));
        wrong.copy(IN, OUT, 0, 1).receiveCombine(0, OUT, 0, 1);
        return Stream.of(
                row(
                        "a scan that is not in rank order",
                        of(SCAN, "chain", 2).plan(1, wrong.buildScan()),
                        "rank 1 ends after receive 1 ... of ranks {0, 1}, not combined in rank order"),
                row(
                        "a scan that completes a result",
                        of(SCAN, "chain", 2).completes(1, 1, true),
                        "rank 1 ends after receive 1 ... completed"),
                row(
                        "an exclusive scan that has the own operand",
                        new Plans(EXCLUSIVE_SCAN, of(SCAN, "chain", 1).plans),
                        "rank 0 has in ... need ChunkExtent[first=0, count=1] and ChunkExtent[first=0, count=0]"),
                row(
                        "an exclusive scan that passes no sum on",
                        of(EXCLUSIVE_SCAN, "chain", 3).send(1, 0, new Send(2, OUT, 0, 1, 0, 2)),
                        "rank 2 ends ... of ranks {0}, need chunk 0 of ranks {0, 1}"));
    }

    static Stream<Arguments> messages() {
        return Stream.of(
                row(
                        "a wrong peer",
                        of(BROADCAST, "binomial", 4).send(0, 1, new Send(3, IN, 0, 1, 0, 0)),
                        "rank 1 receive 0 (from 0, OUT chunk 0) waits for what rank 0 never sends"),
                row("a peer below 0", gather(-1), "rank 1 send 0 (to -1, IN chunk 1)"),
                row("the rank as its peer", gather(1), "rank 1 send 0 (to 1, IN chunk 1)"),
                row("a peer that is no rank", gather(4), "rank 1 send 0 (to 4, IN chunk 1)"),
                row(
                        "a message that nobody receives",
                        of(ALL_GATHER, "ring", 3).sends(2, sends -> sends.add(new Send(1, IN, 2, 1, 0, 0))),
                        "rank 2 send 2 (to 1, IN chunk 2) is never received"),
                row(
                        "chunks that their region does not hold",
                        of(GATHER, "linear", 3).chunks(2, 1, 2),
                        "rank 2 send 0 (to 0, IN chunks 1 to 2) needs"));
    }

    private static Plans gather(int peer) {
        return of(GATHER, "linear", 4).send(1, 0, new Send(peer, IN, 1, 1, 0, 0));
    }

    static Stream<Arguments> deadlocks() {
        Plans rounds = of(BARRIER, "dissemination", 5);
        for (int rank = 0; rank < 5; rank++) {
            rounds.sends(rank, sends -> sends.remove(2)).receives(rank, receives -> receives.remove(2));
        }
        return Stream.of(
                row(
                        "ranks that all receive before they send",
                        of(ALL_TO_ALL, "pairwise", 3)
                                .after(0, 0, 0, 2)
                                .after(1, 0, 0, 2)
                                .after(2, 0, 0, 2),
                        "deadlock, though no send ever waits ... rank 0 send 0 ... rank 0 receive 1"),
                row(
                        "an exchange of one region that ends only if sends do not wait",
                        each(
                                ALL_REDUCE,
                                2,
                                (rank, plan) -> plan.copy(IN, OUT, 0, 1)
                                        .send(1 - rank, OUT, 0, 1)
                                        .receiveCombine(1 - rank, OUT, 0, 1)),
                        "deadlock, where a send ends with its receive ... rank 0 send 0 ... not taken"),
                row(
                        "a barrier with a round too few",
                        rounds,
                        "rank 0 ends at receive 2 and has heard of ranks {0, 2, 3, 4} only"),
                row(
                        "a barrier whose messages do not wait for news",
                        of(BARRIER, "dissemination", 4).send(1, 1, new Send(3, SCRATCH, 0, 1, 0, 0)),
                        "rank 3 ends at receive 2 and has heard of ranks {1, 2, 3} only"));
    }

    static Stream<Arguments> memory() {
        Plans twice = of(REDUCE_SCATTER, "linear", 2)
                .receives(1, receives -> receives.add(new Step.LocalCopy(IN, SCRATCH, 0, 1, 0, 0)));
        Plan plan = twice.plans.get(1);
        Plan reading =
                new Plan(plan.algorithm(), 2, plan.in(), plan.out(), ChunkExtent.all(2), plan.sends(), plan.receives());
        return Stream.of(
                row(
                        "an operand that is read twice",
                        twice.plan(1, reading),
                        "rank 1 receive 2 (copy from IN ... that another step reads too"),
                row(
                        "a read of unset memory",
                        of(GATHER, "binomial", 4)
                                .receives(2, receives -> receives.remove(0))
                                .receive(2, 0, new Receive(3, SCRATCH, 3, 1, 0, 0))
                                .after(2, 0, 0, 1),
                        "rank 2 send 0 (to 0, SCRATCH chunks 2 to 3) reads what nothing has set"),
                row(
                        "a write to the operand",
                        of(REDUCE, "linear", 2).receive(0, 1, last(1, IN, 1)),
                        "rank 0 receive 1 ... writes the caller's operand"));
    }

    static Stream<Arguments> others() {
        return Stream.of(
                row(
                        "plans of different algorithms",
                        of(ALL_REDUCE, "recursiveDoubling", 3)
                                .plan(2, of(ALL_REDUCE, "ring", 3).plans.get(2)),
                        "rank 2 has ring over 3 chunks, rank 0 recursiveDoubling over 1"),
                row(
                        "extents that the collective does not have",
                        of(REDUCE, "binomial", 3)
                                .plan(1, of(REDUCE, "binomial", 3).plans.get(0)),
                        "rank 1 has in"));
    }

    @Test
    void thePlansBehindTheFaultyPlansAreAccepted() {
        assertEquals(Optional.empty(), PlanVerifier.verify(ALL_REDUCE, of(ALL_REDUCE, "ring", 4).plans, 0));
    }

    @Test
    void aRootOutsideTheGroupIsRefused() {
        List<Plan> plans = of(REDUCE, "binomial", 3).plans;

        assertThrows(IllegalArgumentException.class, () -> PlanVerifier.verify(REDUCE, plans, 3));
    }

    /** Returns a combine that completes chunk 0. */
    private static Step.WriteStep last(int peer, Region region, int afterReceives) {
        return new ReceiveCombine(peer, region, 0, 1, 0, afterReceives, true, false);
    }

    private static Plans of(CollectiveKind kind, String algorithm, int size) {
        Plans made = new Plans(kind, new ArrayList<>());
        for (int rank = 0; rank < size; rank++) {
            made.plans.add(Algorithm.of(kind, algorithm).plan(rank, size, 0, null));
        }
        return made;
    }

    /** Returns plans over one chunk that are written by rank. */
    private static Plans each(CollectiveKind kind, int size, BiConsumer<Integer, PlanBuilder> steps) {
        Plans made = new Plans(kind, new ArrayList<>());
        for (int rank = 0; rank < size; rank++) {
            PlanBuilder plan = new PlanBuilder("planted", 1, ChunkExtent.all(1), ChunkExtent.all(1));
            steps.accept(rank, plan);
            made.plans.add(plan.build());
        }
        return made;
    }

    /** The plans of all ranks, to be changed by rank and position. */
    private record Plans(CollectiveKind kind, List<Plan> plans) {
        Plans plan(int rank, Plan other) {
            plans.set(rank, other);
            return this;
        }

        Plans sends(int rank, Consumer<List<Step.Send>> change) {
            List<Step.Send> sends = new ArrayList<>(plans.get(rank).sends());
            change.accept(sends);
            return with(rank, sends, plans.get(rank).receives());
        }

        Plans send(int rank, int at, Step.Send other) {
            return sends(rank, sends -> sends.set(at, other));
        }

        Plans receives(int rank, Consumer<List<Step.WriteStep>> change) {
            List<Step.WriteStep> receives = new ArrayList<>(plans.get(rank).receives());
            change.accept(receives);
            return with(rank, plans.get(rank).sends(), receives);
        }

        Plans receive(int rank, int at, Step.WriteStep other) {
            return receives(rank, receives -> receives.set(at, other));
        }

        private Plans with(int rank, List<Step.Send> sends, List<Step.WriteStep> receives) {
            Plan plan = plans.get(rank);
            return plan(
                    rank,
                    new Plan(
                            plan.algorithm(),
                            plan.chunkCount(),
                            plan.in(),
                            plan.out(),
                            plan.scratch(),
                            sends,
                            receives));
        }

        /** Has the first send of a rank send other chunks. */
        Plans chunks(int rank, int chunk, int chunks) {
            Step.Send send = plans.get(rank).sends().get(0);
            return send(
                    rank,
                    0,
                    new Send(send.peer(), send.region(), chunk, chunks, send.afterSends(), send.afterReceives()));
        }

        /** Has a send wait for other steps. */
        Plans after(int rank, int at, int afterSends, int afterReceives) {
            Step.Send send = plans.get(rank).sends().get(at);
            return send(
                    rank,
                    at,
                    new Send(send.peer(), send.region(), send.chunk(), send.chunks(), afterSends, afterReceives));
        }

        Plans completes(int rank, int at, boolean completes) {
            Step.ReceiveCombine step =
                    (Step.ReceiveCombine) plans.get(rank).receives().get(at);
            assertTrue(step.completes() != completes, step::toString);
            return receive(
                    rank,
                    at,
                    new ReceiveCombine(
                            step.peer(),
                            step.region(),
                            step.chunk(),
                            step.chunks(),
                            step.afterSends(),
                            step.afterReceives(),
                            completes,
                            step.readsFirst()));
        }
    }
}
