package ferro.group;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The data that a rank sends for an object: its bytes, or a text that says why it has none. A rank whose
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
            return failed("cannot encode its object: " + text(failure), failure);
        }
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

    /** The reason why the list of this rank is invalid. The other ranks receive its text. */
    private static final class WrongList extends IllegalArgumentException {
        private static final long serialVersionUID = 1L;

        WrongList(String message) {
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
        if (failure instanceof WrongList wrong) {
            throw new IllegalArgumentException(call + ": this rank " + wrong.getMessage());
        }
        if (failure != null) {
            throw new IllegalArgumentException(
                    call + ": the codec cannot encode the object of this rank: " + text(failure), failure);
        }
    }

    /**
     * The data that a rank sends for a list of one object per rank: the bytes of the objects, or one text that says why
     * it has none.
     *
     * @param parts  bytes by rank; empty if there is a text
     * @param failed the object that could not be encoded, or the text for a wrong list; {@link #NONE} if there is none
     */
    record EncodedList(List<byte[]> parts, EncodedObject failed) {
        /** The data of a rank that has no list in this call. */
        static final EncodedList NONE = new EncodedList(List.of(), EncodedObject.NONE);

        /** Encodes one object for each rank, one after the other, until the codec throws. */
        static <T> EncodedList of(Codec<T> codec, List<? extends T> values, int worldSize) {
            values.forEach(value -> requireNonNull(value, "a value of values"));
            if (values.size() != worldSize) {
                WrongList wrong = new WrongList(
                        "passes a list of " + values.size() + ", need one object for each of " + worldSize + " ranks");
                return new EncodedList(List.of(), EncodedObject.failed(wrong.getMessage(), wrong));
            }
            List<byte[]> parts = new ArrayList<>();
            for (T value : values) {
                EncodedObject one = EncodedObject.of(codec, value);
                if (one.failure() != null) {
                    return new EncodedList(List.of(), one);
                }
                parts.add(one.bytes());
            }
            return new EncodedList(parts, EncodedObject.NONE);
        }

        /** Returns the largest number of bytes of a part, or a number below 0 if there is a text instead. */
        long headerLength() {
            return parts.stream().mapToLong(part -> part.length).max().orElse(failed.headerLength());
        }

        long[] counts() {
            return parts.stream().mapToLong(part -> part.length).toArray();
        }

        /** Returns all parts, one after the other. */
        byte[] joined(int byteCount) {
            ByteBuffer joined = ByteBuffer.allocate(byteCount);
            parts.forEach(joined::put);
            return joined.array();
        }
    }
}
