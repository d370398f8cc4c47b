package ferro.training.checkpoint;

import ferro.HostTensor;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.zip.CRC32C;

/**
 * A safetensors file of a checkpoint that is read.
 *
 * @param folder the folder of its checkpoint
 * @param part its name, length and checksum
 * @param header where its tensors lie
 */
record PartFile(String folder, StoredPart part, SafetensorsHeader header) {

    /**
     * Elements of a tensor of a file, and where they go.
     *
     * @param entry the tensor
     * @param from the first element, counted in the tensor
     * @param into takes all its elements
     */
    record LoadTarget(SafetensorsEntry entry, long from, HostTensor into) {

        /** Takes the elements of a block that are its own. */
        void take(ByteBuffer block, long first) {
            int unit = entry.dataType().byteSize();
            long begin = Math.max(first, from);
            long end = Math.min(first + block.remaining() / unit, from + into.elementCount());
            if (begin < end) {
                ByteBuffer own = block.slice((int) (begin - first) * unit, (int) (end - begin) * unit);
                ByteRun.copy(own, into, begin - from);
            }
        }
    }

    /** Reads the header of a part; the file must have as many bytes as the part. */
    static PartFile open(ObjectReader reader, String folder, StoredPart part) {
        String name = folder + "/" + part.file();
        ByteBuffer first = ByteBuffer.allocate((int) Math.min(SafetensorsHeader.LENGTH_BYTES, part.bytes()));
        reader.fill(name, 0, first);
        int length = SafetensorsHeader.length(name, first.flip(), part.bytes());
        ByteBuffer json = ByteBuffer.allocate(length);
        reader.fill(name, SafetensorsHeader.LENGTH_BYTES, json);
        return new PartFile(folder, part, SafetensorsHeader.parse(name, json.flip(), part.bytes()));
    }

    String name() {
        return folder + "/" + part.file();
    }

    /** Reads the whole file, hands each target its elements, and compares the checksum at the end. */
    void load(ObjectReader reader, List<LoadTarget> targets) {
        CRC32C checksum = new CRC32C();
        ByteBuffer buffer = ByteRun.buffer(part.bytes());
        for (long at = 0; at < header.dataStart(); at += buffer.limit()) {
            buffer.clear().limit((int) Math.min(buffer.capacity(), header.dataStart() - at));
            read(reader, at, buffer, checksum);
        }
        Map<SafetensorsEntry, List<LoadTarget>> byEntry =
                targets.stream().collect(Collectors.groupingBy(LoadTarget::entry));
        for (SafetensorsEntry entry : header.entries()) {
            int unit = entry.dataType().byteSize();
            int most = buffer.capacity() / unit;
            for (long first = 0; first < entry.elementCount(); first += most) {
                buffer.clear().limit((int) Math.min(most, entry.elementCount() - first) * unit);
                read(reader, header.dataStart() + entry.begin() + first * unit, buffer, checksum);
                ByteRun.toNative(buffer, unit);
                for (LoadTarget target : byEntry.getOrDefault(entry, List.of())) {
                    target.take(buffer, first);
                }
            }
        }
        if (checksum.getValue() != part.checksum()) {
            throw new CheckpointException(name() + " has checksum " + ObjectReader.hex(checksum.getValue()) + ", need "
                    + ObjectReader.hex(part.checksum()) + ": the file is damaged");
        }
    }

    private void read(ObjectReader reader, long at, ByteBuffer buffer, CRC32C checksum) {
        reader.fill(name(), at, buffer);
        checksum.update(buffer.flip().duplicate());
    }
}
