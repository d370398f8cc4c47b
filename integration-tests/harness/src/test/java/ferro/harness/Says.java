package ferro.harness;

import ferro.FerroException;
import ferro.FerroException.Code;

/** Asserts how a call fails, and what its failure says. */
public final class Says {
    private Says() {}

    /** A call that is to fail. */
    @FunctionalInterface
    public interface Call {
        void run() throws Exception;
    }

    public static void assertSays(String text, String... parts) {
        for (String part : parts) {
            if (!text.contains(part)) {
                throw new AssertionError("need \"" + part + "\": " + text);
            }
        }
    }

    public static <T extends Throwable> T assertSays(T failure, String... parts) {
        assertSays(failure.getMessage(), parts);
        return failure;
    }

    public static <T extends Throwable> T assertRefused(Class<T> type, Call call, String... parts) {
        Throwable thrown = null;
        try {
            call.run();
        } catch (Throwable refusal) {
            thrown = refusal;
        }
        return assertSays(found(type, thrown), parts);
    }

    public static FerroException assertFails(Code code, Call call, String... parts) {
        return assertFailed(code, assertRefused(FerroException.class, call), parts);
    }

    /** Asserts that code has ended with a failure; null means that it has ended well. */
    public static FerroException assertFailed(Code code, Throwable outcome, String... parts) {
        FerroException failure = found(FerroException.class, outcome);
        if (failure.code() != code) {
            throw new AssertionError("not " + code + ": " + failure, failure);
        }
        return assertSays(failure, parts);
    }

    private static <T> T found(Class<T> type, Throwable thrown) {
        if (!type.isInstance(thrown)) {
            throw new AssertionError("no " + type.getSimpleName() + ": " + thrown, thrown);
        }
        return type.cast(thrown);
    }
}
