package ferro.backend.tcp.mesh;

import ferro.FerroException.Code;
import ferro.backend.tcp.net.Hello;
import ferro.backend.tcp.net.Refusal;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * One frame of a control connection.
 *
 * @param type  type of the message
 * @param lane  lane of a data channel, else 0
 * @param group identity of a group or subgroup, else 0
 * @param body  at most 4 KiB
 */
record ControlFrame(Type type, byte lane, long group, byte[] body) {
    /**
     * Length of the head in bytes. The head has the type, the lane, two unused bytes, the length of the body, and the
     * group.
     */
    static final int HEAD_BYTES = 16;

    static final int MOST_BODY_BYTES = 4096;
    /** Length of the CRC32C of head and body. The CRC32C follows the body if {@code ferro.tcp.checksum} is on. */
    static final int CHECKSUM_BYTES = 4;

    private static final byte[] NOTHING = {};

    /** Types of frames. The number of a type on the wire is its ordinal plus one. */
    enum Type {
        /** A message for the listener of a group. */
        MESSAGE,
        /** The sender asks the receiver, which has a lower rank, to open a data channel; body: epoch. */
        OPEN_DATA,
        /** The lower rank could not open a data channel; body: epoch, then a refusal. */
        NO_DATA,
        /**
         * The sender has a control connection to every rank. Only rank 0 sends this frame with a body, which is the
         * round trip time of rank 0 to other ranks.
         */
        READY,
        /** The sender closes normally. */
        GOODBYE,
        /** The sender reads no more frames of the receiver, which has sent an invalid frame; body: a refusal. */
        REFUSED,
        /**
         * The higher rank lacks a resource, such as descriptors, for a connection; body: epoch, then a refusal. If the
         * higher rank is the sender, the epoch is 0, and the frame is about all channels that the lower rank is
         * connecting. The lower rank answers with one frame for each channel.
         */
        NOT_ACCEPTED,
        /** The sender has closed this group, and has dropped a message of the receiver. */
        CLOSED
    }

    static ControlFrame bare(Type type) {
        return new ControlFrame(type, (byte) 0, 0, NOTHING);
    }

    /** Creates the READY frame of rank 0, with its round trip time to the other ranks in microseconds. */
    static ControlFrame ready(int micros) {
        byte[] body = ByteBuffer.allocate(Integer.BYTES).putInt(micros).array();
        return new ControlFrame(Type.READY, (byte) 0, 0, body);
    }

    static ControlFrame message(long group, ByteBuffer message) {
        if (message.remaining() > MOST_BODY_BYTES) {
            throw new IllegalArgumentException(
                    "a control message of " + message.remaining() + " bytes: need at most " + MOST_BODY_BYTES);
        }
        byte[] body = new byte[message.remaining()];
        message.duplicate().get(body);
        return new ControlFrame(Type.MESSAGE, (byte) 0, group, body);
    }

    static ControlFrame closed(long group) {
        return new ControlFrame(Type.CLOSED, (byte) 0, group, NOTHING);
    }

    static ControlFrame refused(Refusal why) {
        return new ControlFrame(Type.REFUSED, (byte) 0, 0, why.encoded());
    }

    static ControlFrame openData(ChannelKey key, int epoch) {
        byte[] body = ByteBuffer.allocate(Integer.BYTES).putInt(epoch).array();
        return new ControlFrame(Type.OPEN_DATA, (byte) key.lane().ordinal(), key.group(), body);
    }

    static ControlFrame noData(ChannelKey key, int epoch, Refusal why) {
        return new ControlFrame(Type.NO_DATA, (byte) key.lane().ordinal(), key.group(), body(epoch, why));
    }

    /**
     * Creates the frame by which a higher rank reports that it cannot accept a connection. The higher rank does not
     * know the channel.
     */
    static ControlFrame notAccepted(Refusal why) {
        return new ControlFrame(Type.NOT_ACCEPTED, (byte) 0, 0, body(0, why));
    }

    /** Creates the answer of a lower rank that will not open a channel. */
    static ControlFrame notAccepted(ChannelKey key, int epoch, Refusal why) {
        return new ControlFrame(Type.NOT_ACCEPTED, (byte) key.lane().ordinal(), key.group(), body(epoch, why));
    }

    private static byte[] body(int epoch, Refusal why) {
        byte[] text = why.encoded();
        return ByteBuffer.allocate(Integer.BYTES + text.length)
                .putInt(epoch)
                .put(text)
                .array();
    }

    /** Returns the bytes of the frame, followed by a checksum if both sides use checksums. */
    byte[] encoded(boolean checksum) {
        byte[] plain = encoded();
        return checksum
                ? ByteBuffer.allocate(plain.length + CHECKSUM_BYTES)
                        .put(plain)
                        .putInt(sumOf(plain))
                        .array()
                : plain;
    }

    private static int sumOf(byte[] bytes) {
        CRC32C sum = new CRC32C();
        sum.update(bytes);
        return (int) sum.getValue();
    }

    byte[] encoded() {
        return ByteBuffer.allocate(HEAD_BYTES + body.length)
                .put((byte) (type.ordinal() + 1))
                .put(lane)
                .putShort((short) 0)
                .putInt(body.length)
                .putLong(group)
                .put(body)
                .array();
    }

    /**
     * The head of a received frame, whose fields were checked.
     *
     * @param bytes number of bytes of the body
     */
    record FrameHead(Type type, byte lane, int bytes, long group) {
        static FrameHead decoded(ByteBuffer in) throws Refusal {
            int type = in.get() - 1;
            byte lane = in.get();
            short unused = in.getShort();
            int bytes = in.getInt();
            if (type < 0 || type >= Type.values().length) {
                throw new Refusal(Code.PROTOCOL, "no control frame has type " + (type + 1));
            }
            Type known = Type.values()[type];
            boolean fits = switch (known) {
                case MESSAGE -> bytes >= 0 && bytes <= MOST_BODY_BYTES;
                case OPEN_DATA -> bytes == Integer.BYTES;
                case NO_DATA, NOT_ACCEPTED -> bytes > Integer.BYTES && bytes <= Hello.MOST_BYTES;
                case REFUSED -> bytes > 0 && bytes <= Hello.MOST_BYTES;
                case READY -> bytes == 0 || bytes == Integer.BYTES;
                case GOODBYE, CLOSED -> bytes == 0;
            };
            if (!fits || lane < 0 || lane >= ChannelKey.LANES || unused != 0) {
                throw new Refusal(
                        Code.PROTOCOL,
                        "a control frame of type " + known + " with " + bytes + " bytes, lane " + lane
                                + (unused == 0 ? "" : ", and bytes that must be zero are not"));
            }
            return new FrameHead(known, lane, bytes, in.getLong());
        }

        ControlFrame withBody(ByteBuffer in) {
            byte[] body = new byte[bytes];
            in.get(body);
            return new ControlFrame(type, lane, group, body);
        }

        /** Parses the body like {@link #withBody}, and verifies the checksum after the body. */
        ControlFrame withCheckedBody(ByteBuffer in) throws Refusal {
            ControlFrame frame = withBody(in);
            int said = in.getInt();
            int found = sumOf(frame.encoded());
            if (said != found) {
                throw new Refusal(
                        Code.PROTOCOL,
                        "a control frame of type " + type + " with " + bytes + " bytes has checksum "
                                + Integer.toHexString(found) + ", need " + Integer.toHexString(said)
                                + ": something changes bytes between the ranks");
            }
            return frame;
        }
    }
}
