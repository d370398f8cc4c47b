package ferro.collectives.plan;

/** The values of the steps of {@link Step}. Only {@link PlanBuilder} creates steps. */
final class StepRecords {
    private StepRecords() {}

    record SendStep(int peer, Region region, int chunk, int chunks, int afterSends, int afterReceives)
            implements Step.Send {}

    record ReceiveStep(int peer, Region region, int chunk, int chunks, int afterSends, int afterReceives)
            implements Step.Receive {}

    record ReceiveCombineStep(
            int peer,
            Region region,
            int chunk,
            int chunks,
            int afterSends,
            int afterReceives,
            boolean completes,
            boolean readsFirst)
            implements Step.ReceiveCombine {}

    record LocalCopyStep(Region from, Region region, int chunk, int chunks, int afterSends, int afterReceives)
            implements Step.LocalCopy {}

    record LocalCombineStep(
            Region from,
            Region region,
            int chunk,
            int chunks,
            int afterSends,
            int afterReceives,
            boolean completes,
            boolean readsFirst)
            implements Step.LocalCombine {}
}
