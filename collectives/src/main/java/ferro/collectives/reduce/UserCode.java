package ferro.collectives.reduce;

import ferro.DataType;
import ferro.ReduceOp;

/** What a user's code throws, told as such. */
final class UserCode {
    private UserCode() {}

    /** Returns what to throw; the group then fails with its text. That memory has run out is told as it is. */
    static RuntimeException failure(ReduceOp op, DataType type, Throwable thrown) {
        if (thrown instanceof OutOfMemoryError memory) {
            throw memory;
        }
        return new IllegalStateException(
                "the code of reduction " + op.name() + " threw on elements of " + type.label() + ": " + thrown, thrown);
    }
}
