package ferro.training.checkpoint;

import ferro.HostTensor;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.zip.CRC32C;

/**
 * A safetensors file of a checkpoint that is loaded.
 *
 * @param folder the folder of the checkpoint
 * @param part   the name, length and checksum of the file
 * @param header the header, which contains the positions of the tensors in the file
 */
record PartFile(String folder, ManifestEntry part, SafetensorsHeader header) {

    /**
     * A range of elements of a tensor in a file, and the tensor in memory into which the elements are loaded.
     *
     * @param entry the tensor in the file
     * @param from  the index of the first element in the tensor in the file
     * @param into  the tensor in memory; all its elements are loaded
     */
    record LoadTarget(SafetensorsEntry entry, long from, HostTensor into) {

        /** Copies the elements of a block that belong to this range. The block begins at element {@code first}. */
        void take(ByteBuffer block, long first) {
            int unit = entry.dataType().byteSize();
            long begin = Math.max(first, from);
            long end = Math.min(first + block.remaining() / unit, from + into.elementCount());
            if (begin < end) {
                ElementCodec.copy(
                        block.slice((int) (begin - first) * unit, (int) (end - begin) * unit), into, begin - from);
            }
        }
    }

    /** Reads the header of a part. The file must have the length that {@code part} gives. */
    static PartFile open(ObjectReader reader, String folder, ManifestEntry part) {
        String name = folder + "/" + part.file();
        ByteBuffer first = ByteBuffer.allocate((int) Math.min(SafetensorsHeader.LENGTH_BYTES, part.bytes()));
        reader.fill(name, 0, first);
        ByteBuffer json = ByteBuffer.allocate(SafetensorsHeader.length(name, first.flip(), part.bytes()));
        reader.fill(name, SafetensorsHeader.LENGTH_BYTES, json);
        return new PartFile(folder, part, SafetensorsHeader.parse(name, json.flip(), part.bytes()));
    }

    String name() {
        return folder + "/" + part.file();
    }

    /** Reads the complete file, copies the elements into all targets, and compares the checksum at the end. */
    void load(ObjectReader reader, List<LoadTarget> targets) {
        CRC32C checksum = new CRC32C();
        ByteBuffer buffer = ElementCodec.buffer(part.bytes());
        for (long at = 0; at < header.dataStart(); at += buffer.limit()) {
            buffer.clear().limit((int) Math.min(buffer.capacity(), header.dataStart() - at));
            read(reader, at, buffer, checksum);
        }
        Map<SafetensorsEntry, List<LoadTarget>> byEntry =
                targets.stream().collect(Collectors.groupingBy(LoadTarget::entry));
        for (SafetensorsEntry entry : header.entries()) {
            int unit = entry.dataType().byteSize();
            int max = buffer.capacity() / unit;
            for (long first = 0; first < entry.elementCount(); first += max) {
                buffer.clear().limit((int) Math.min(max, entry.elementCount() - first) * unit);
                read(reader, header.dataStart() + entry.begin() + first * unit, buffer, checksum);
                ElementCodec.toNative(buffer, unit);
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

    /** A map from elements in files to the tensors that are loaded. */
    static final class LoadPlan {
        private final Map<String, PartFile> files = new LinkedHashMap<>();
        private final Map<String, List<LoadTarget>> targets = new LinkedHashMap<>();

        void add(PartFile file, LoadTarget target) {
            files.put(file.name(), file);
            targets.computeIfAbsent(file.name(), name -> new ArrayList<>()).add(target);
        }

        /** Loads all tensors. Each file is read once. */
        void run(ObjectReader reader) {
            files.forEach((name, file) -> file.load(reader, targets.get(name)));
        }
    }
}
