package ferro.collectives.reduce;

import ferro.DataType;
import ferro.ReduceOp;

/** Turns what a user's code throws into failures that say so. */
final class UserFailures {
    private UserFailures() {}

    /**
     * Returns the exception to throw; the group then fails with its text. An {@code OutOfMemoryError} is thrown as it is.
     */
    static RuntimeException failure(ReduceOp op, DataType type, Throwable thrown) {
        if (thrown instanceof OutOfMemoryError memory) {
            throw memory;
        }
        return new IllegalStateException(
                "the code of reduction " + op.name() + " threw on elements of " + type.label() + ": " + thrown, thrown);
    }
}
