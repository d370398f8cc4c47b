package ferro.group;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import java.io.IOException;

/**
 * What a rank sends for an object: its bytes, or the text of what its codec threw. A rank whose codec throws takes part in the
 * call like the others, so that none of them waits for it.
 *
 * @param bytes   of the object, or of the text
 * @param failure what the codec threw, or what is wrong with the arguments; null if the object is encoded
 */
record EncodedObject(byte[] bytes, Throwable failure) {
    /** What a rank sends that has no object in this call. */
    static final EncodedObject NONE = new EncodedObject(new byte[0], null);

    private static final int TEXT_LIMIT = 1000;

    /** Encodes an object; keeps what the codec throws, also if memory runs out. */
    static <T> EncodedObject of(Codec<T> codec, T value) {
        try {
            return new EncodedObject(requireNonNull(codec.encode(value), "the codec returned null"), null);
        } catch (IOException | RuntimeException | Error failure) {
            return failed(text(failure), failure);
        }
    }

    /** Returns what a rank sends whose arguments are wrong. */
    static EncodedObject misused(Misuse misuse) {
        return failed(misuse.getMessage(), misuse);
    }

    private static EncodedObject failed(String text, Throwable failure) {
        String cut = text.substring(0, Math.min(TEXT_LIMIT, text.length()));
        return new EncodedObject(cut.getBytes(UTF_8), failure);
    }

    /** Returns the text of what the code of a user threw, which may not even have one. */
    private static String text(Throwable failure) {
        try {
            return requireNonNull(failure.toString(), "text");
        } catch (RuntimeException | Error none) {
            return failure.getClass().getName();
        }
    }

    /** Arguments that are wrong on one rank, of which the others hear. */
    static final class Misuse extends IllegalArgumentException {
        private static final long serialVersionUID = 1L;

        Misuse(String message) {
            super(message);
        }
    }

    /** Returns what a header says of it: the number of bytes, or below 0 if they are those of a text. */
    long headerLength() {
        return failure == null ? bytes.length : -1L - bytes.length;
    }

    /** Returns the number of bytes that a header announces, of an object or of a text. */
    static long byteCount(long headerLength) {
        return headerLength < 0 ? -1 - headerLength : headerLength;
    }

    /** Returns the text of a failure, without what would move a cursor. */
    static String text(byte[] bytes) {
        return new String(bytes, UTF_8).replaceAll("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]", " ");
    }

    /** Throws what the codec of this rank threw, if it did. */
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
