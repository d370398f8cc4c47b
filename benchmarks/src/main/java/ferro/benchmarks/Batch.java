package ferro.benchmarks;

import ferro.Work;
import ferro.group.ProcessGroup;

/** What a bench calls at once: one blocking operation, or several that are queued and then waited for, on tensors of their own. */
final class Batch implements AutoCloseable {
    private final Operation[] operations;
    private final Work[] queued;

    Batch(ProcessGroup group, Place place, Sweep sweep, long size) {
        operations = new Operation[sweep.queued()];
        queued = new Work[operations.length];
        for (int i = 0; i < operations.length; i++) {
            operations[i] = new Operation(group, place, sweep, size);
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

    /** Runs all once on known data and counts what a plain loop would have given otherwise, on this rank. */
    long wrongElements() {
        for (Operation operation : operations) {
            operation.giveKnownInput();
        }
        run();
        long wrong = 0;
        for (Operation operation : operations) {
            wrong += operation.wrongInResult();
            // repeated reductions in place are harmless then
            operation.clear();
        }
        return wrong;
    }

    /** Elements of one as the table counts them. */
    int count() {
        return operations[0].count();
    }

    @Override
    public void close() {
        for (Operation operation : operations) {
            operation.close();
        }
    }
}
