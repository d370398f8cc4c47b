package ferro.group;

import ferro.CallOptions;
import ferro.FerroException;
import ferro.Work;
import java.util.Objects;

/** The forms of {@link ProcessGroup} that run the calls of a block as one. */
abstract class CoalescedForms extends UnequalForms {
    private final GroupCore end;
    private final CallOptions options;

    CoalescedForms(GroupCore end, CallOptions options) {
        super(end, options);
        this.end = end;
        this.options = options;
    }

    /**
     * Runs several collectives as one where possible: consecutive small all-reduces of one type and op are fused. The results are
     * bitwise the same as those of separate calls. Every rank must make the same calls in its block, in the same order; a
     * difference is a MISMATCH.
     *
     * {@snippet file="ferro/examples/snippets/ProcessGroupSnippetsTest.java" region="coalesced" :
     *
     * group.coalesced(() -> gradients.forEach(one -> group.allReduce(one, ReduceOp.SUM)));
     * }
     *
     * <p>Inside the block, calls of this thread on this group and on its views are checked and kept. No call runs, and no result
     * exists, before the end of the block. This method then waits for all calls, with one deadline of this group for all
     * together. Handles of {@code …Async} calls are done when this method returns. Awaiting such a handle inside the block throws
     * an IllegalStateException, as {@code split}, {@code newGroup} and {@code allocate} do. The memory of two fused calls must
     * not overlap. If the block throws, none of its calls runs. Calls of a nested block belong to the outer block.
     *
     * <p>Messages are kept too: sends and receives of the block start together at its end, in their order, behind its
     * collectives. So ranks that first send and then receive do not wait for each other:
     *
     * {@snippet file="ferro/examples/snippets/MessageSnippetsTest.java" region="blockOfMessages" :
     *
     * group.coalesced(() -> {
     *     group.send(own, next, 0);
     *     group.recvAsync(received, previous, 0);
     * });
     * }
     *
     * <p>{@code recv}, {@code recvUpTo}, {@code probe}, {@code match} and {@code sendReceive} throw an IllegalStateException
     * inside the block, because they return what has come. Back ends of five methods and NCCL run the messages one after
     * another.
     *
     * @param block makes the calls; its exceptions are thrown unchanged
     * @throws IllegalArgumentException      if the memory of two fused calls overlaps, or a call of the block does not fit
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end cannot do a call of the block
     * @throws FerroException                if the group fails or has failed
     */
    public final void coalesced(Runnable block) {
        end.coalescing().run(Objects.requireNonNull(block, "block"), end, options.timeout());
    }

    /**
     * Does the same as {@link #coalesced}, but only starts the calls of the block and does not wait for them. This method waits
     * only for earlier calls on device tensors that go through host memory, until those calls have ended.
     *
     * {@snippet file="ferro/examples/snippets/ProcessGroupSnippetsTest.java" region="coalescedAsync" :
     *
     * Work sums = group.coalescedAsync(() -> gradients.forEach(one -> group.allReduce(one, ReduceOp.SUM)));
     * prepareNextBatch(); // without the gradients
     * sums.await();
     * }
     *
     * <p>Handles of {@code …Async} calls inside the block or a nested block are done when the returned handle is done.
     *
     * @param block makes the calls; their tensors must not be used until the work is done
     * @return handle of all calls of the block
     * @throws IllegalArgumentException      if the memory of two fused calls overlaps, or a call of the block does not fit
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end cannot do a call of the block
     * @throws FerroException                if the group has failed, or fails during the wait for earlier calls
     */
    public final Work coalescedAsync(Runnable block) {
        return end.coalescing().submit(Objects.requireNonNull(block, "block"), end, options.timeout());
    }
}
