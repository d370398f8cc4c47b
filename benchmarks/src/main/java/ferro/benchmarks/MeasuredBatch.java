package ferro.benchmarks;

import ferro.Work;
import ferro.group.ProcessGroup;

/**
 * The operations that a bench calls at once: one blocking operation, or several that are queued and then waited for,
 * each on its own tensors.
 */
final class MeasuredBatch implements AutoCloseable {
    private final MeasuredOperation[] operations;
    private final Work[] queued;

    MeasuredBatch(ProcessGroup group, MemoryPlace place, Sweep sweep, long size) {
        operations = new MeasuredOperation[sweep.queued()];
        queued = new Work[operations.length];
        for (int i = 0; i < operations.length; i++) {
            operations[i] = new MeasuredOperation(group, place, sweep, size);
        }
    }

    void run() {
        if (operations.length == 1) {
            operations[0].run();
            return;
        }
        for (int i = 0; i < operations.length; i++) {
            queued[i] = operations[i].submit();
        }
        for (Work work : queued) {
            work.await();
        }
    }

    /** Runs all operations once on known data and counts the elements that differ from a plain loop, on this rank. */
    long wrongElements() {
        for (MeasuredOperation operation : operations) {
            operation.giveKnownInput();
        }
        run();
        long wrong = 0;
        for (MeasuredOperation operation : operations) {
            wrong += operation.wrongInResult();
            // makes repeated reductions in place harmless
            operation.clear();
        }
        return wrong;
    }

    /** Returns the elements of one operation, counted as in the table. */
    int count() {
        return operations[0].count();
    }

    @Override
    public void close() {
        for (MeasuredOperation operation : operations) {
            operation.close();
        }
    }
}
