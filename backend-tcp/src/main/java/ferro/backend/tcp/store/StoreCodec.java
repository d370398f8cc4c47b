package ferro.backend.tcp.store;

import ferro.FerroException.Code;
import ferro.backend.tcp.net.Refusal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** The encoding of requests and answers of the store. Lengths are checked before memory is allocated. */
public final class StoreCodec {
    /**
     * Length of the head of a request in bytes. The head has the operation, the presence of an expected value, the key
     * length, the request number, the length of the value, and the length of the expected value.
     */
    public static final int REQUEST_HEAD_BYTES = 16;
    /**
     * Length of the head of an answer in bytes. The head has the request number, the kind, three unused bytes, and the
     * value length.
     */
    public static final int ANSWER_HEAD_BYTES = 12;

    private StoreCodec() {}

    /** The operations of requests. The number of an operation on the wire is its ordinal plus one. */
    public enum StoreOperation {
        SET,
        WHEN,
        ADD,
        COMPARE_AND_SET,
        DELETE,
        /** The client no longer waits for the answer to the WHEN request with this request number. */
        FORGET
    }

    /** The kinds of answers. The number of a kind on the wire is its ordinal plus one. */
    public enum AnswerKind {
        VALUE,
        ABSENT,
        REFUSED
    }

    /**
     * A request of a client of the store.
     *
     * @param number    number that the client has chosen, and that the answer repeats
     * @param value     value, or the eight bytes of an amount to add
     * @param expected  expected value of COMPARE_AND_SET; null means absent
     */
    record StoreRequest(StoreOperation operation, int number, String key, byte[] value, byte[] expected) {
        byte[] encoded() {
            byte[] name = key.getBytes(StandardCharsets.UTF_8);
            int expectedBytes = expected == null ? 0 : expected.length;
            ByteBuffer out = ByteBuffer.allocate(REQUEST_HEAD_BYTES + name.length + value.length + expectedBytes);
            out.put((byte) (operation.ordinal() + 1)).put((byte) (expected == null ? 0 : 1));
            out.putShort((short) name.length)
                    .putInt(number)
                    .putInt(value.length)
                    .putInt(expectedBytes);
            out.put(name).put(value);
            if (expected != null) {
                out.put(expected);
            }
            return out.array();
        }
    }

    /**
     * The head of a received request, whose fields were checked.
     *
     * @param expects       whether an expected value follows
     * @param keyBytes      length of the key
     * @param valueBytes    length of the value
     * @param expectedBytes length of the expected value
     */
    record RequestHead(
            StoreOperation operation, boolean expects, int number, int keyBytes, int valueBytes, int expectedBytes) {
        int following() {
            return keyBytes + valueBytes + expectedBytes;
        }

        static RequestHead decoded(ByteBuffer in) throws Refusal {
            int operation = in.get() - 1;
            if (operation < 0 || operation >= StoreOperation.values().length) {
                throw new Refusal(Code.PROTOCOL, "no store operation has number " + (operation + 1));
            }
            boolean expects = in.get() != 0;
            int keyBytes = Short.toUnsignedInt(in.getShort());
            int number = in.getInt();
            int valueBytes = in.getInt();
            int expectedBytes = in.getInt();
            check("key", keyBytes, StoreMap.MOST_KEY_BYTES);
            check("value", valueBytes, StoreMap.MOST_VALUE_BYTES);
            check("expected value", expectedBytes, StoreMap.MOST_VALUE_BYTES);
            return new RequestHead(
                    StoreOperation.values()[operation], expects, number, keyBytes, valueBytes, expectedBytes);
        }

        /** Parses the bytes that follow the head of a request. */
        StoreRequest decodedBody(ByteBuffer in) {
            byte[] key = new byte[keyBytes];
            byte[] value = new byte[valueBytes];
            byte[] expected = new byte[expectedBytes];
            in.get(key).get(value).get(expected);
            return new StoreRequest(
                    operation, number, new String(key, StandardCharsets.UTF_8), value, expects ? expected : null);
        }

        private static void check(String what, int bytes, int most) throws Refusal {
            if (bytes < 0 || bytes > most) {
                throw new Refusal(Code.PROTOCOL, "a store " + what + " of " + bytes + " bytes: need 0 to " + most);
            }
        }
    }

    /**
     * The head of a received answer, whose fields were checked.
     *
     * @param answer kind of the answer
     * @param bytes  number of bytes that follow the head
     */
    record AnswerHead(int number, AnswerKind answer, int bytes) {
        byte[] encoded() {
            return ByteBuffer.allocate(ANSWER_HEAD_BYTES)
                    .putInt(number)
                    .put((byte) (answer.ordinal() + 1))
                    .putInt(ANSWER_HEAD_BYTES - Integer.BYTES, bytes)
                    .array();
        }

        static AnswerHead decoded(ByteBuffer in) throws Refusal {
            int number = in.getInt();
            int answer = in.get() - 1;
            int bytes = in.position(in.position() + 3).getInt();
            if (answer < 0 || answer >= AnswerKind.values().length || bytes < 0 || bytes > StoreMap.MOST_VALUE_BYTES) {
                throw new Refusal(
                        Code.PROTOCOL, "a store answer of kind " + (answer + 1) + " with " + bytes + " bytes");
            }
            return new AnswerHead(number, AnswerKind.values()[answer], bytes);
        }
    }
}
