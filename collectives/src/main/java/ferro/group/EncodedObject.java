package ferro.group;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;

/**
 * The data that a rank sends for an object, or for a list of one object per rank. The data is the bytes of each object,
 * or one text that says why the rank has no object. A rank whose codec throws still makes all collectives of the call,
 * so that no other rank waits for this rank.
 *
 * @param parts   bytes of each object, or bytes of the text
 * @param failure exception of the codec, or an exception for invalid arguments; null if the objects are encoded
 */
record EncodedObject(List<byte[]> parts, Throwable failure) {
    /** The data of a rank that has no object in this call. */
    static final EncodedObject NONE = new EncodedObject(List.of(), null);

    private static final int TEXT_LIMIT = 1000;

    /** Encodes an object. */
    static <T> EncodedObject of(Codec<T> codec, T value) {
        return ofEach(codec, List.of(value));
    }

    /** Encodes one object for each rank. */
    static <T> EncodedObject of(Codec<T> codec, List<? extends T> values, int worldSize) {
        values.forEach(value -> requireNonNull(value, "a value of values"));
        if (values.size() != worldSize) {
            InvalidListException wrong = new InvalidListException(
                    "passes a list of " + values.size() + ", need one object for each of " + worldSize + " ranks");
            return failed(wrong.getMessage(), wrong);
        }
        return ofEach(codec, values);
    }

    /**
     * Encodes objects, one after the other, until the codec throws. Keeps the exception or error that the codec throws, even
     * an OutOfMemoryError.
     */
    private static <T> EncodedObject ofEach(Codec<T> codec, List<? extends T> values) {
        try {
            List<byte[]> parts = new ArrayList<>();
            for (T value : values) {
                parts.add(requireNonNull(codec.encode(value), "the codec returned null"));
            }
            return new EncodedObject(parts, null);
        } catch (IOException | RuntimeException | Error failure) {
            return failed("cannot encode its object: " + text(failure), failure);
        }
    }

    private static EncodedObject failed(String text, Throwable failure) {
        String cut = text.substring(0, Math.min(TEXT_LIMIT, text.length()));
        return new EncodedObject(List.of(cut.getBytes(UTF_8)), failure);
    }

    /** Returns the text of an exception of user code, even if {@code toString} of the exception fails. */
    private static String text(Throwable failure) {
        try {
            return requireNonNull(failure.toString(), "text");
        } catch (RuntimeException | Error none) {
            return failure.getClass().getName();
        }
    }

    /** The exception for an invalid list of this rank. The other ranks receive the text of the exception. */
    private static final class InvalidListException extends IllegalArgumentException {
        private static final long serialVersionUID = 1L;

        InvalidListException(String message) {
            super(message);
        }
    }

    /**
     * Returns the length field of the header. The field is the number of bytes of the largest object, or -1 minus the
     * number of bytes of a text.
     */
    long headerLength() {
        long largest = LongStream.of(counts()).max().orElse(0);
        return failure == null ? largest : -1 - largest;
    }

    /** Returns the bytes of the only object, or of the text; no bytes without an object. */
    byte[] bytes() {
        return parts.isEmpty() ? new byte[0] : parts.get(0);
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

    /** Returns the number of bytes of the object or text that a header announces. */
    static long byteCount(long headerLength) {
        return headerLength < 0 ? -1 - headerLength : headerLength;
    }

    /** Returns the text of a failure without control and format characters. */
    static String text(byte[] bytes) {
        return new String(bytes, UTF_8).replaceAll("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]", " ");
    }

    /** Throws the exception or error that this rank's codec has thrown. Does nothing if the codec threw nothing. */
    void throwFailure(String call) {
        if (failure instanceof Error error) {
            throw error;
        }
        if (failure instanceof InvalidListException wrong) {
            throw new IllegalArgumentException(call + ": this rank " + wrong.getMessage());
        }
        if (failure != null) {
            throw new IllegalArgumentException(
                    call + ": the codec cannot encode the object of this rank: " + text(failure), failure);
        }
    }
}
