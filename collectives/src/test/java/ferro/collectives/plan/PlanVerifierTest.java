package ferro.collectives.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CollectiveKind;
import ferro.collectives.algorithm.AlgorithmRegistry;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Plans with one fault each; every one must be refused with a text that names rank and step. */
class PlanVerifierTest {
    @Test
    void acceptsThePlansThatTheFaultsAreMadeFrom() {
        assertEquals(
                Optional.empty(),
                PlanVerifier.verify(CollectiveKind.ALL_REDUCE, plans(CollectiveKind.ALL_REDUCE, "ring", 4), 0));
    }

    @Test
    void refusesSwappedRounds() {
        List<Plan> plans = plans(CollectiveKind.ALL_REDUCE, "ring", 4);
        change(plans, 1, plan -> sends(plan, sends -> Collections.swap(sends, 0, 1)));

        assertRefused(
                CollectiveKind.ALL_REDUCE,
                plans,
                "rank 1 send 0 (to 2, OUT chunk 0) arrives at rank 2 receive 2 (combine from 1, OUT chunk 1)");
    }

    @Test
    void refusesMessagesInAnotherOrderThanTheirReceives() {
        List<Plan> plans = plans(CollectiveKind.SCATTER, "binomial", 8);
        change(plans, 4, plan -> sends(plan, sends -> sends.set(0, with(sends.get(0), 7, 1))));

        assertRefused(
                CollectiveKind.SCATTER, plans, "rank 4 send 0 (to 6, SCRATCH chunk 7) arrives at rank 6 receive 0");
    }

    @Test
    void refusesASendThatDoesNotWaitForTheCombineIntoItsChunk() {
        List<Plan> plans = plans(CollectiveKind.ALL_REDUCE, "ring", 4);
        change(plans, 2, plan -> sends(plan, sends -> sends.set(2, after(sends.get(2), 0, 1))));

        assertRefused(CollectiveKind.ALL_REDUCE, plans, "rank 2 receive", "is not ordered with rank 2 send 2");
    }

    @Test
    void refusesAReceiveOverAChunkThatASendStillReads() {
        List<Plan> plans = plans(CollectiveKind.ALL_REDUCE, "ring", 4);
        change(
                plans,
                3,
                plan -> receives(plan, receives -> {
                    int last = receives.size() - 1;
                    Step.Arrival step = receives.get(last);
                    receives.set(
                            last,
                            new StepRecords.ReceiveStep(
                                    2, step.region(), step.chunk(), step.chunks(), 0, step.afterReceives()));
                }));

        assertRefused(CollectiveKind.ALL_REDUCE, plans, "rank 3 receive 9", "not ordered with rank 3 send");
    }

    @Test
    void refusesTwoCombinesIntoOneChunkWithoutAnOrder() {
        List<Plan> plans = plans(CollectiveKind.REDUCE, "linear", 4);
        change(plans, 0, plan -> receives(plan, receives -> receives.set(2, last(2, Region.OUT, 1))));

        assertRefused(
                CollectiveKind.REDUCE, plans, "rank 0 receive 2 (combine from 2, OUT chunk 0) is not ordered with");
    }

    @Test
    void refusesAPartThatIsCountedTwice() {
        List<Plan> plans = plans(CollectiveKind.REDUCE, "linear", 3);
        change(plans, 1, plan -> sends(plan, sends -> sends.add(new StepRecords.SendStep(0, Region.IN, 0, 1, 0, 0))));
        change(plans, 0, plan -> receives(plan, receives -> receives.add(last(1, Region.OUT, 3))));

        assertRefused(CollectiveKind.REDUCE, plans, "rank 0 receive 3", "counts a rank twice");
    }

    @Test
    void refusesACombineThatCompletesTooEarly() {
        List<Plan> plans = plans(CollectiveKind.ALL_REDUCE, "ring", 3);
        change(plans, 1, plan -> receives(plan, receives -> completes(receives, 2, true)));

        assertRefused(CollectiveKind.ALL_REDUCE, plans, "rank 2 receive", "combines what is complete");
    }

    @Test
    void refusesAResultThatNoCombineCompletes() {
        List<Plan> plans = plans(CollectiveKind.REDUCE, "linear", 3);
        change(plans, 0, plan -> receives(plan, receives -> completes(receives, 2, false)));

        assertRefused(CollectiveKind.REDUCE, plans, "rank 0 ends after receive 2", "but no combine has completed it");
    }

    /** Returns a combine that completes chunk 0. */
    private static Step.Arrival last(int peer, Region region, int afterReceives) {
        return new StepRecords.ReceiveCombineStep(peer, region, 0, 1, 0, afterReceives, true, false);
    }

    private static void completes(List<Step.Arrival> receives, int index, boolean completes) {
        Step.ReceiveCombine combine = (Step.ReceiveCombine) receives.get(index);
        assertTrue(combine.completes() != completes, combine::toString);
        receives.set(
                index,
                new StepRecords.ReceiveCombineStep(
                        combine.peer(),
                        combine.region(),
                        combine.chunk(),
                        combine.chunks(),
                        combine.afterSends(),
                        combine.afterReceives(),
                        completes,
                        combine.readsFirst()));
    }

    @Test
    void refusesAnOperandThatIsReadTwice() {
        List<Plan> plans = plans(CollectiveKind.REDUCE_SCATTER, "linear", 2);
        change(plans, 1, plan -> {
            List<Step.Arrival> receives = new ArrayList<>(plan.receives());
            receives.add(new StepRecords.LocalCopyStep(Region.IN, Region.SCRATCH, 0, 1, 0, 0));
            return new Plan(
                    plan.algorithm(),
                    2,
                    new Plan.Extents(plan.in(), plan.out(), Extent.all(2)),
                    plan.sends(),
                    receives);
        });

        assertRefused(
                CollectiveKind.REDUCE_SCATTER, plans, "rank 1 receive 2 (copy from IN", "that another step reads too");
    }

    @Test
    void refusesAScanThatIsNotInRankOrder() {
        List<Plan> plans = plans(CollectiveKind.SCAN, "chain", 2);
        PlanBuilder wrong = new PlanBuilder("chain", 1).in(Extent.all(1)).out(Extent.all(1));
        wrong.copy(Region.IN, Region.OUT, 0, 1).receiveCombine(0, Region.OUT, 0, 1);
        plans.set(1, wrong.buildScan());

        assertRefused(
                CollectiveKind.SCAN,
                plans,
                "rank 1 ends after receive 1",
                "of ranks {0, 1}, not combined in rank order");
    }

    @Test
    void refusesAScanThatCompletesAResult() {
        List<Plan> plans = plans(CollectiveKind.SCAN, "chain", 2);
        change(plans, 1, plan -> receives(plan, receives -> completes(receives, 1, true)));

        assertRefused(CollectiveKind.SCAN, plans, "rank 1 ends after receive 1", "completed");
    }

    @Test
    void refusesAnExclusiveScanThatHasTheOwnOperand() {
        assertRefused(
                CollectiveKind.EXCLUSIVE_SCAN,
                plans(CollectiveKind.SCAN, "chain", 1),
                "rank 0 has in",
                "need Extent[first=0, count=1] and Extent[first=0, count=0]");
        List<Plan> plans = plans(CollectiveKind.EXCLUSIVE_SCAN, "chain", 3);
        change(
                plans,
                1,
                plan -> sends(plan, sends -> sends.set(0, new StepRecords.SendStep(2, Region.OUT, 0, 1, 0, 2))));

        assertRefused(
                CollectiveKind.EXCLUSIVE_SCAN, plans, "rank 2 ends", "of ranks {0}, need chunk 0 of ranks {0, 1}");
    }

    @Test
    void refusesAPartThatIsLeftOut() {
        List<Plan> plans = plans(CollectiveKind.REDUCE, "linear", 3);
        change(plans, 1, plan -> sends(plan, List::clear));
        change(plans, 0, plan -> receives(plan, receives -> receives.remove(1)));
        change(plans, 0, plan -> receives(plan, receives -> receives.set(1, last(2, Region.OUT, 1))));

        assertRefused(
                CollectiveKind.REDUCE,
                plans,
                "rank 0 ends after receive 1",
                "of ranks {0, 2}, need chunk 0 of ranks {0, 1, 2}");
    }

    @Test
    void refusesAWrongPeer() {
        List<Plan> plans = plans(CollectiveKind.BROADCAST, "binomial", 4);
        change(
                plans,
                0,
                plan -> sends(plan, sends -> sends.set(1, new StepRecords.SendStep(3, Region.IN, 0, 1, 0, 0))));

        assertRefused(
                CollectiveKind.BROADCAST,
                plans,
                "rank 1 receive 0 (from 0, OUT chunk 0) waits for what rank 0 never sends");
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 1, 4})
    void refusesAPeerThatIsNoOtherRank(int peer) {
        List<Plan> plans = plans(CollectiveKind.GATHER, "linear", 4);
        change(
                plans,
                1,
                plan -> sends(plan, sends -> sends.set(0, new StepRecords.SendStep(peer, Region.IN, 1, 1, 0, 0))));

        assertRefused(CollectiveKind.GATHER, plans, "rank 1 send 0 (to " + peer + ", IN chunk 1)");
    }

    @Test
    void refusesAMessageThatNobodyReceives() {
        List<Plan> plans = plans(CollectiveKind.ALL_GATHER, "ring", 3);
        change(plans, 2, plan -> sends(plan, sends -> sends.add(new StepRecords.SendStep(1, Region.IN, 2, 1, 0, 0))));

        assertRefused(CollectiveKind.ALL_GATHER, plans, "rank 2 send 2 (to 1, IN chunk 2) is never received");
    }

    @Test
    void refusesRanksThatAllReceiveBeforeTheySend() {
        List<Plan> plans = plans(CollectiveKind.ALL_TO_ALL, "pairwise", 3);
        for (int rank = 0; rank < 3; rank++) {
            change(plans, rank, plan -> sends(plan, sends -> sends.set(0, after(sends.get(0), 0, 2))));
        }

        assertRefused(
                CollectiveKind.ALL_TO_ALL,
                plans,
                "deadlock, though no send ever waits",
                "rank 0 send 0",
                "rank 0 receive 1");
    }

    @Test
    void refusesAnExchangeOfOneRegionThatEndsOnlyIfSendsDoNotWait() {
        List<Plan> plans = new ArrayList<>();
        for (int rank = 0; rank < 2; rank++) {
            plans.add(new PlanBuilder("naive", 1)
                    .in(Extent.all(1))
                    .out(Extent.all(1))
                    .copy(Region.IN, Region.OUT, 0, 1)
                    .send(1 - rank, Region.OUT, 0, 1)
                    .receiveCombine(1 - rank, Region.OUT, 0, 1)
                    .build());
        }

        assertRefused(
                CollectiveKind.ALL_REDUCE,
                plans,
                "deadlock, where a send ends with its receive",
                "rank 0 send 0",
                "not taken");
    }

    @Test
    void refusesAReadOfUnsetMemory() {
        List<Plan> plans = plans(CollectiveKind.GATHER, "binomial", 4);
        change(plans, 2, plan -> receives(plan, receives -> receives.remove(0)));
        change(
                plans,
                2,
                plan -> receives(
                        plan, receives -> receives.set(0, new StepRecords.ReceiveStep(3, Region.SCRATCH, 3, 1, 0, 0))));
        change(plans, 2, plan -> sends(plan, sends -> sends.set(0, after(sends.get(0), 0, 1))));

        assertRefused(
                CollectiveKind.GATHER, plans, "rank 2 send 0 (to 0, SCRATCH chunks 2 to 3) reads what nothing has set");
    }

    @Test
    void refusesACombineIntoUnsetMemory() {
        List<Plan> plans = plans(CollectiveKind.REDUCE, "linear", 2);
        change(
                plans,
                0,
                plan -> receives(plan, receives -> {
                    receives.clear();
                    receives.add(last(1, Region.OUT, 0));
                }));

        assertRefused(CollectiveKind.REDUCE, plans, "rank 0 receive 0", "combines into what nothing has set");
    }

    @Test
    void refusesAWriteToTheOperand() {
        List<Plan> plans = plans(CollectiveKind.REDUCE, "linear", 2);
        change(plans, 0, plan -> receives(plan, receives -> receives.set(1, last(1, Region.IN, 1))));

        assertRefused(CollectiveKind.REDUCE, plans, "rank 0 receive 1", "writes the caller's operand");
    }

    @Test
    void refusesALocalCombineOfTheOperand() {
        List<Plan> plans = new ArrayList<>();
        for (int rank = 0; rank < 2; rank++) {
            plans.add(new PlanBuilder("ownLast", 1)
                    .in(Extent.all(1))
                    .out(Extent.all(1))
                    .send(1 - rank, Region.IN, 0, 1)
                    .receive(1 - rank, Region.OUT, 0, 1)
                    .combine(Region.IN, Region.OUT, 0, 1)
                    .build());
        }

        assertRefused(CollectiveKind.ALL_REDUCE, plans, "rank 0 receive 1", "combines the operand");
    }

    @Test
    void refusesALocalCombineThatDoesNotWaitForWhatItReads() {
        List<Plan> plans = plans(CollectiveKind.REDUCE_SCATTER, "linearDoubling", 4);
        change(
                plans,
                0,
                plan -> receives(plan, receives -> {
                    int last = receives.size() - 1;
                    Step.LocalCombine step = (Step.LocalCombine) receives.get(last);
                    receives.set(
                            last,
                            new StepRecords.LocalCombineStep(
                                    step.from(), step.region(), 0, 1, 0, 2, step.completes(), false));
                }));

        assertRefused(
                CollectiveKind.REDUCE_SCATTER,
                plans,
                "rank 0 receive 4 (combine from SCRATCH, OUT chunk 0) is not ordered with rank 0 receive");
    }

    @Test
    void refusesChunksThatTheirRegionDoesNotHold() {
        List<Plan> plans = plans(CollectiveKind.GATHER, "linear", 3);
        change(plans, 2, plan -> sends(plan, sends -> sends.set(0, with(sends.get(0), 1, 2))));

        assertRefused(CollectiveKind.GATHER, plans, "rank 2 send 0 (to 0, IN chunks 1 to 2) needs");
    }

    @Test
    void refusesADependencyOnALaterStep() {
        List<Plan> plans = plans(CollectiveKind.ALL_GATHER, "ring", 3);
        change(plans, 1, plan -> sends(plan, sends -> sends.set(0, after(sends.get(0), 1, 1))));

        assertRefused(CollectiveKind.ALL_GATHER, plans, "rank 1 send 0", "waits for 1 sends, only 0 are before it");
    }

    @Test
    void refusesResultsThatRanksCombineInDifferentWays() {
        List<Plan> plans = new ArrayList<>();
        for (int rank = 0; rank < 3; rank++) {
            PlanBuilder plan =
                    new PlanBuilder("everyoneForItself", 1).in(Extent.all(1)).out(Extent.all(1));
            plan.copy(Region.IN, Region.OUT, 0, 1);
            for (int i = 1; i < 3; i++) {
                plan.send((rank + i) % 3, Region.IN, 0, 1).receiveCombine((rank + 3 - i) % 3, Region.OUT, 0, 1);
            }
            plans.add(plan.build());
        }

        assertRefused(
                CollectiveKind.ALL_REDUCE,
                plans,
                "rank 1 ends after receive 2",
                "combined in another way than on rank 0");
    }

    @Test
    void refusesAPlanThatIsWrongOnlyInPlace() {
        List<Plan> plans = new ArrayList<>();
        for (int rank = 0; rank < 2; rank++) {
            plans.add(new PlanBuilder("sendsItsOperand", 1)
                    .in(Extent.all(1))
                    .out(Extent.all(1))
                    .copy(Region.IN, Region.OUT, 0, 1)
                    .send(1 - rank, Region.IN, 0, 1)
                    .receiveCombine(1 - rank, Region.OUT, 0, 1)
                    .build());
        }

        assertRefused(
                CollectiveKind.ALL_REDUCE, plans, "rank 0 receive 1", "not ordered with rank 0 send 0", "(in place)");
    }

    @Test
    void refusesABarrierWithARoundTooFew() {
        List<Plan> plans = plans(CollectiveKind.BARRIER, "dissemination", 5);
        for (int rank = 0; rank < 5; rank++) {
            change(plans, rank, plan -> sends(plan, sends -> sends.remove(2)));
            change(plans, rank, plan -> receives(plan, receives -> receives.remove(2)));
        }

        assertRefused(
                CollectiveKind.BARRIER, plans, "rank 0 ends at receive 2 and has heard of ranks {0, 2, 3, 4} only");
    }

    @Test
    void refusesABarrierWhoseMessagesDoNotWaitForNews() {
        List<Plan> plans = plans(CollectiveKind.BARRIER, "dissemination", 4);
        change(
                plans,
                1,
                plan -> new Plan(
                        plan.algorithm(),
                        plan.chunkCount(),
                        extents(plan),
                        List.of(plan.sends().get(0), new StepRecords.SendStep(3, Region.SCRATCH, 0, 1, 0, 0)),
                        plan.receives()));

        assertRefused(CollectiveKind.BARRIER, plans, "rank 3 ends at receive 2 and has heard of ranks {1, 2, 3} only");
    }

    @Test
    void refusesPlansOfDifferentAlgorithms() {
        List<Plan> plans = plans(CollectiveKind.ALL_REDUCE, "recursiveDoubling", 3);
        plans.set(2, plans(CollectiveKind.ALL_REDUCE, "ring", 3).get(2));

        assertRefused(
                CollectiveKind.ALL_REDUCE, plans, "rank 2 has ring over 3 chunks, rank 0 recursiveDoubling over 1");
    }

    @Test
    void refusesExtentsThatTheCollectiveDoesNotHave() {
        List<Plan> plans = plans(CollectiveKind.REDUCE, "binomial", 3);
        plans.set(1, plans.get(0));

        assertRefused(CollectiveKind.REDUCE, plans, "rank 1 has in");
    }

    @Test
    void refusesARootThatIsNoRank() {
        List<Plan> plans = plans(CollectiveKind.REDUCE, "binomial", 3);

        assertThrows(IllegalArgumentException.class, () -> PlanVerifier.verify(CollectiveKind.REDUCE, plans, 3));
    }

    private static void assertRefused(CollectiveKind kind, List<Plan> plans, String... parts) {
        String why = PlanVerifier.verify(kind, plans, 0).orElse("proved");
        for (String part : parts) {
            assertTrue(why.contains(part), () -> "\"" + part + "\" is not in: " + why);
        }
    }

    private static List<Plan> plans(CollectiveKind kind, String algorithm, int size) {
        List<Plan> plans = new ArrayList<>();
        for (int rank = 0; rank < size; rank++) {
            plans.add(AlgorithmRegistry.of(kind, algorithm).plan(rank, size, 0, null));
        }
        return plans;
    }

    private static void change(List<Plan> plans, int rank, UnaryOperator<Plan> change) {
        plans.set(rank, change.apply(plans.get(rank)));
    }

    private static Plan.Extents extents(Plan plan) {
        return new Plan.Extents(plan.in(), plan.out(), plan.scratch());
    }

    private static Plan sends(Plan plan, Consumer<List<Step.Send>> change) {
        List<Step.Send> sends = new ArrayList<>(plan.sends());
        change.accept(sends);
        return new Plan(plan.algorithm(), plan.chunkCount(), extents(plan), sends, plan.receives());
    }

    private static Plan receives(Plan plan, Consumer<List<Step.Arrival>> change) {
        List<Step.Arrival> receives = new ArrayList<>(plan.receives());
        change.accept(receives);
        return new Plan(plan.algorithm(), plan.chunkCount(), extents(plan), plan.sends(), receives);
    }

    private static Step.Send with(Step.Send send, int chunk, int chunks) {
        return new StepRecords.SendStep(
                send.peer(), send.region(), chunk, chunks, send.afterSends(), send.afterReceives());
    }

    private static Step.Send after(Step.Send send, int afterSends, int afterReceives) {
        return new StepRecords.SendStep(
                send.peer(), send.region(), send.chunk(), send.chunks(), afterSends, afterReceives);
    }
}
