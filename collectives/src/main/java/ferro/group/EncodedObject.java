package ferro.group;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import java.io.IOException;

/**
 * The data that a rank sends for an object: its bytes, or the text of the exception that its codec threw. A rank whose
 * codec throws still makes all collectives of the call, so that no other rank waits for it.
 *
 * @param bytes   bytes of the object, or of the text
 * @param failure exception of the codec, or an exception for invalid arguments; null if the object is encoded
 */
record EncodedObject(byte[] bytes, Throwable failure) {
    /** The data of a rank that has no object in this call. */
    static final EncodedObject NONE = new EncodedObject(new byte[0], null);

    private static final int TEXT_LIMIT = 1000;

    /** Encodes an object. Keeps the exception or error that the codec throws, even an OutOfMemoryError. */
    static <T> EncodedObject of(Codec<T> codec, T value) {
        try {
            return new EncodedObject(requireNonNull(codec.encode(value), "the codec returned null"), null);
        } catch (IOException | RuntimeException | Error failure) {
            return failed(text(failure), failure);
        }
    }

    /** Returns the data of a rank whose arguments are invalid. */
    static EncodedObject misused(Misuse misuse) {
        return failed(misuse.getMessage(), misuse);
    }

    private static EncodedObject failed(String text, Throwable failure) {
        String cut = text.substring(0, Math.min(TEXT_LIMIT, text.length()));
        return new EncodedObject(cut.getBytes(UTF_8), failure);
    }

    /** Returns the text of an exception of user code, even if its own {@code toString} fails. */
    private static String text(Throwable failure) {
        try {
            return requireNonNull(failure.toString(), "text");
        } catch (RuntimeException | Error none) {
            return failure.getClass().getName();
        }
    }

    /** The exception for arguments that are invalid on one rank. The other ranks receive its text. */
    static final class Misuse extends IllegalArgumentException {
        private static final long serialVersionUID = 1L;

        Misuse(String message) {
            super(message);
        }
    }

    /**
     * Returns the length field of the header: the number of bytes of an object, or -1 minus the number of bytes of a
     * text.
     */
    long headerLength() {
        return failure == null ? bytes.length : -1L - bytes.length;
    }

    /** Returns the number of bytes of the object or text that a header announces. */
    static long byteCount(long headerLength) {
        return headerLength < 0 ? -1 - headerLength : headerLength;
    }

    /** Returns the text of a failure without control and format characters. */
    static String text(byte[] bytes) {
        return new String(bytes, UTF_8).replaceAll("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]", " ");
    }

    /** Throws the exception or error of this rank's codec, if there is one. */
    void throwFailure(String call) {
        if (failure instanceof Error error) {
            throw error;
        }
        if (failure instanceof Misuse misuse) {
            throw misuse;
        }
        if (failure != null) {
            throw new IllegalArgumentException(
                    call + ": the codec cannot encode the object of this rank: " + text(failure), failure);
        }
    }
}
