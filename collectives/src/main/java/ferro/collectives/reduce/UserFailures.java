package ferro.collectives.reduce;

import ferro.DataType;
import ferro.ReduceOp;

/** The conversion of exceptions of a user's code into exceptions that name the reduction. */
final class UserFailures {
    private UserFailures() {}

    /**
     * Returns the exception to throw; the group then fails with its text. An {@code OutOfMemoryError} is thrown
     * unchanged.
     */
    static RuntimeException failure(ReduceOp op, DataType type, Throwable thrown) {
        if (thrown instanceof OutOfMemoryError memory) {
            throw memory;
        }
        return new IllegalStateException(
                "the code of reduction " + op.name() + " threw on elements of " + type.label() + ": " + thrown, thrown);
    }
}
