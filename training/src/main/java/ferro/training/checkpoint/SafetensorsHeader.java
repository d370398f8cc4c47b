package ferro.training.checkpoint;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The header of a safetensors file: eight bytes that count those of a JSON object, little endian, and the object, which says where
 * each tensor lies behind it.
 *
 * <p>Source: <a href="https://github.com/huggingface/safetensors">huggingface/safetensors</a>, "Format". As there, a header has at
 * most 100 MB, and tensors lie one behind the other without a gap.
 *
 * @param entries tensors in the order in which they lie in the file
 * @param metadata strings by name, which say something of the file
 * @param dataStart the first byte of the first tensor, counted in the file
 */
record SafetensorsHeader(List<SafetensorsEntry> entries, Map<String, String> metadata, long dataStart) {
    static final String METADATA = "__metadata__";
    static final int LENGTH_BYTES = 8;
    private static final long MOST_BYTES = 100_000_000;
    private static final int ALIGNMENT = 8;

    /** Says how many bytes the object has, by the first eight bytes of a file; refuses what the file cannot hold. */
    static int length(String file, ByteBuffer first, long fileBytes) {
        if (first.remaining() < LENGTH_BYTES) {
            throw new CheckpointException(
                    file + " has " + first.remaining() + " bytes, need a header of at least " + LENGTH_BYTES);
        }
        long length = first.order(ByteOrder.LITTLE_ENDIAN).getLong(first.position());
        long most = Math.min(MOST_BYTES, fileBytes - LENGTH_BYTES);
        if (length < 2 || length > most) {
            throw new CheckpointException(file + ": header of " + Long.toUnsignedString(length) + " bytes, need 2 to "
                    + most + " in a file of " + fileBytes);
        }
        return (int) length;
    }

    /** Reads the object behind the length. */
    static SafetensorsHeader parse(String file, ByteBuffer json, long fileBytes) {
        long dataStart = LENGTH_BYTES + (long) json.remaining();
        JsonValues fields = StrictJson.read(file, json);
        Map<String, String> metadata = Map.of();
        List<SafetensorsEntry> entries = new ArrayList<>();
        for (String name : fields.fields().keySet()) {
            if (name.equals(METADATA)) {
                metadata = fields.object(name).strings();
            } else {
                entries.add(SafetensorsEntry.of(name, fields.object(name)));
            }
        }
        entries.sort(Comparator.comparingLong(SafetensorsEntry::begin).thenComparingLong(SafetensorsEntry::end));
        refuseGaps(file, entries, fileBytes - dataStart);
        return new SafetensorsHeader(List.copyOf(entries), metadata, dataStart);
    }

    private static void refuseGaps(String file, List<SafetensorsEntry> entries, long dataBytes) {
        long at = 0;
        for (SafetensorsEntry entry : entries) {
            if (entry.begin() != at) {
                throw new CheckpointException(file + ": tensor \"" + Text.shortened(entry.name()) + "\" begins at byte "
                        + entry.begin() + " of the data, need " + at + ", where the one before it ends");
            }
            at = entry.end();
        }
        if (at != dataBytes) {
            throw new CheckpointException(
                    file + ": the tensors end at byte " + at + " of the data, the file has " + dataBytes);
        }
    }

    /** Makes the bytes in front of the data: the object is padded by spaces, so that the data is aligned. */
    static ByteBuffer bytes(List<SafetensorsEntry> entries, Map<String, String> metadata) {
        Map<String, Object> fields = new LinkedHashMap<>();
        if (!metadata.isEmpty()) {
            fields.put(METADATA, metadata);
        }
        entries.forEach(entry -> fields.put(entry.name(), entry.fields()));
        byte[] json = StrictJson.write(fields).getBytes(StandardCharsets.UTF_8);
        int padded = (json.length + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        ByteBuffer bytes = ByteBuffer.allocate(LENGTH_BYTES + padded).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putLong(padded).put(json);
        while (bytes.hasRemaining()) {
            bytes.put((byte) ' ');
        }
        return bytes.flip();
    }
}
