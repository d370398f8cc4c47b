package ferro.training.checkpoint;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;

/** A writer for one file. The writer computes the length and the checksum of the file while it writes. */
final class PartWriter {
    /**
     * Metadata with the framework of a file, which Python libraries need to load complete models. All these libraries
     * accept PyTorch's value.
     */
    private static final Map<String, String> METADATA = Map.of("format", "pt");

    private final CRC32C checksum = new CRC32C();
    private WritableByteChannel to;
    private long bytes;

    private PartWriter() {}

    /** Writes tensors to a safetensors file. */
    static ManifestEntry safetensors(
            CheckpointStorage storage, String folder, String file, int rank, List<NamedTensor> tensors)
            throws IOException {
        List<NamedTensor> ordered = new ArrayList<>(tensors);
        // tensors with the largest elements come first, so that all elements are aligned
        ordered.sort(
                Comparator.comparingInt(tensor -> -tensor.values().dataType().byteSize()));
        PartWriter writer = new PartWriter();
        storage.write(folder + "/" + file, channel -> {
            writer.begin(channel);
            writer.put(SafetensorsHeader.bytes(entries(ordered), METADATA));
            ByteBuffer buffer = ElementCodec.buffer(ordered.stream()
                    .mapToLong(tensor -> tensor.values().byteCount())
                    .max()
                    .orElse(0));
            for (NamedTensor tensor : ordered) {
                writer.put(tensor, buffer);
            }
        });
        return writer.part(file, rank);
    }

    /** Writes a small text file in UTF-8. */
    static ManifestEntry text(CheckpointStorage storage, String folder, String file, int rank, String text)
            throws IOException {
        PartWriter writer = new PartWriter();
        storage.write(folder + "/" + file, channel -> {
            writer.begin(channel);
            writer.put(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
        });
        return writer.part(file, rank);
    }

    private static List<SafetensorsEntry> entries(List<NamedTensor> tensors) {
        List<SafetensorsEntry> entries = new ArrayList<>();
        long at = 0;
        for (NamedTensor tensor : tensors) {
            long end = at + tensor.values().byteCount();
            entries.add(new SafetensorsEntry(tensor.name(), tensor.values().dataType(), tensor.shape(), at, end));
            at = end;
        }
        return entries;
    }

    /** Starts the length and the checksum at zero. A storage that retries a write requests the content once more. */
    private void begin(WritableByteChannel channel) {
        to = channel;
        bytes = 0;
        checksum.reset();
    }

    private void put(NamedTensor tensor, ByteBuffer buffer) throws IOException {
        long count = tensor.values().elementCount();
        int max = ElementCodec.BUFFER_BYTES / tensor.values().dataType().byteSize();
        for (long first = 0; first < count; first += max) {
            ElementCodec.fill(buffer, tensor.values(), first, (int) Math.min(max, count - first));
            put(buffer);
        }
    }

    private void put(ByteBuffer content) throws IOException {
        bytes += content.remaining();
        checksum.update(content.duplicate());
        while (content.hasRemaining()) {
            to.write(content);
        }
    }

    private ManifestEntry part(String file, int rank) {
        return new ManifestEntry(file, bytes, checksum.getValue(), rank);
    }
}
