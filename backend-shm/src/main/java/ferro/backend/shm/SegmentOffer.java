package ferro.backend.shm;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.UUID;

/**
 * The data by which another process finds a segment and checks that it has found the right segment.
 *
 * @param host       name of the host of the creator
 * @param pid        process number of the creator
 * @param descriptor descriptor of the file in the creator; -1 if the descriptor is unknown
 * @param name       name of the file in the folder of segments
 * @param device     device of the file system
 * @param inode      inode of the file
 * @param bytes      length of the data area
 * @param token      token that the segment contains after its data area
 */
record SegmentOffer(
        String host, long pid, int descriptor, String name, long device, long inode, long bytes, UUID token) {
    /** Version of the layout, so that versions with different layouts do not use each other's segments. */
    private static final int LAYOUT = 0xFE220002;

    byte[] encoded() {
        ByteArrayOutputStream bytesOut = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytesOut)) {
            out.writeInt(LAYOUT);
            out.writeUTF(host);
            out.writeLong(pid);
            out.writeInt(descriptor);
            out.writeUTF(name);
            out.writeLong(device);
            out.writeLong(inode);
            out.writeLong(bytes);
            out.writeLong(token.getMostSignificantBits());
            out.writeLong(token.getLeastSignificantBits());
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return bytesOut.toByteArray();
    }

    /**
     * Parses the bytes that {@link #encoded} has returned.
     *
     * @throws IOException if {@link #encoded} has not returned the bytes
     */
    static SegmentOffer decode(byte[] encoded) throws IOException {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(encoded));
        int layout = in.readInt();
        if (layout != LAYOUT) {
            throw new IOException("it has layout " + Integer.toHexString(layout) + ", need "
                    + Integer.toHexString(LAYOUT) + ": all ranks need the same version of ferro-backend-shm");
        }
        return new SegmentOffer(
                in.readUTF(),
                in.readLong(),
                in.readInt(),
                in.readUTF(),
                in.readLong(),
                in.readLong(),
                in.readLong(),
                new UUID(in.readLong(), in.readLong()));
    }
}
