package ferro.benchmarks;

import ferro.Work;
import ferro.group.ProcessGroup;

/**
 * The operations that a bench runs together. A batch is one blocking operation, or several operations that are queued
 * and then waited for. Each operation has separate tensors.
 */
final class MeasuredBatch implements AutoCloseable {
    private final MeasuredOperation[] operations;
    private final Work[] queued;

    MeasuredBatch(ProcessGroup group, MeasuredMemory place, Sweep sweep, long size) {
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

    /** Runs all operations on known data. Returns how many elements of this rank differ from a plain loop's result. */
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

    /** Returns the number of elements of one operation, counted as in the table. */
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
