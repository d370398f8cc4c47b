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
 * The header of a safetensors file. The header consists of a length and a JSON object. The length has eight bytes in
 * little endian order and gives the number of bytes of the JSON object. The JSON object contains the offsets of each
 * tensor in the data, which follows the header.
 *
 * <p>Source: <a href="https://github.com/huggingface/safetensors">huggingface/safetensors</a>, "Format". As in the
 * source, a header has at most 100 MB, and the tensors follow each other without gaps.
 *
 * @param entries   the tensors in the order of their data in the file
 * @param metadata  strings by name that describe the file
 * @param dataStart the offset of the first tensor in the file
 */
record SafetensorsHeader(List<SafetensorsEntry> entries, Map<String, String> metadata, long dataStart) {
    static final String METADATA = "__metadata__";
    static final int LENGTH_BYTES = 8;
    private static final long MAX_BYTES = 100_000_000;
    private static final int ALIGNMENT = 8;

    /**
     * Reads the length of the JSON object from the first eight bytes of a file. Throws an exception if the length is
     * less than 2, more than 100 MB, or more than the rest of the file.
     */
    static int length(String file, ByteBuffer first, long fileBytes) {
        if (first.remaining() < LENGTH_BYTES) {
            throw new CheckpointException(file + " has " + first.remaining() + " bytes, need a header of at least "
                    + LENGTH_BYTES + " bytes");
        }
        long length = first.order(ByteOrder.LITTLE_ENDIAN).getLong(first.position());
        long max = Math.min(MAX_BYTES, fileBytes - LENGTH_BYTES);
        if (length < 2 || length > max) {
            throw new CheckpointException(file + ": the header has " + Long.toUnsignedString(length)
                    + " bytes, need 2 to " + max + " bytes in a file of " + fileBytes + " bytes");
        }
        return (int) length;
    }

    /** Parses the JSON object that follows the length. */
    static SafetensorsHeader parse(String file, ByteBuffer json, long fileBytes) {
        long dataStart = LENGTH_BYTES + (long) json.remaining();
        JsonObjectFields fields = JsonCodec.read(file, json);
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
                throw new CheckpointException(
                        file + ": tensor \"" + MessageFormatter.shortened(entry.name()) + "\" begins at byte "
                                + entry.begin() + " of the data, but the tensors before it end at byte " + at);
            }
            at = entry.end();
        }
        if (at != dataBytes) {
            throw new CheckpointException(file + ": the tensors end at byte " + at + " of the data, but the data has "
                    + dataBytes + " bytes");
        }
    }

    /** Encodes a header. Spaces are added after the JSON object, so that the data is aligned. */
    static ByteBuffer bytes(List<SafetensorsEntry> entries, Map<String, String> metadata) {
        Map<String, Object> fields = new LinkedHashMap<>();
        if (!metadata.isEmpty()) {
            fields.put(METADATA, metadata);
        }
        entries.forEach(entry -> fields.put(entry.name(), entry.fields()));
        byte[] json = JsonCodec.text(fields).getBytes(StandardCharsets.UTF_8);
        int padded = (json.length + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        ByteBuffer bytes = ByteBuffer.allocate(LENGTH_BYTES + padded).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putLong(padded).put(json);
        while (bytes.hasRemaining()) {
            bytes.put((byte) ' ');
        }
        return bytes.flip();
    }
}
