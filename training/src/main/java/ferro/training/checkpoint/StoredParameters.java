package ferro.training.checkpoint;

import ferro.training.checkpoint.PartFile.LoadPlan;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/** The parameters of a checkpoint, read from its index and from the headers of its files. */
final class StoredParameters {
    private final Map<String, PartFile> files = new HashMap<>();
    private final Map<String, SafetensorsEntry> entries = new LinkedHashMap<>();

    /** Reads the headers of all files that the index names. Throws an exception if index and headers do not agree. */
    static StoredParameters open(StoredFiles stored) {
        WeightIndex index = WeightIndex.parse(stored.json(ObjectNames.INDEX));
        String source = stored.name(ObjectNames.INDEX);
        StoredParameters found = new StoredParameters();
        for (String file : new TreeSet<>(index.files().values())) {
            PartFile opened = stored.open(source, file);
            for (SafetensorsEntry entry : opened.header().entries()) {
                if (!file.equals(index.files().get(entry.name()))) {
                    throw new CheckpointException(
                            source + ": tensor \"" + MessageFormatter.shortened(entry.name()) + "\" is in "
                                    + file + ", but the index names "
                                    + index.files().getOrDefault(entry.name(), "no file") + " for it");
                }
                found.files.put(entry.name(), opened);
                found.entries.put(entry.name(), entry);
            }
        }
        for (Map.Entry<String, String> named : index.files().entrySet()) {
            if (!found.entries.containsKey(named.getKey())) {
                throw new CheckpointException(source + ": tensor \"" + MessageFormatter.shortened(named.getKey())
                        + "\" is not in " + named.getValue());
            }
        }
        return found;
    }

    /**
     * Adds the file of each wanted parameter to the plan. Adds a message to {@code problems} for each parameter that is
     * missing, differs, or is not wanted.
     */
    void match(List<NamedTensor> wanted, LoadPlan plan, List<String> problems) {
        Map<String, SafetensorsEntry> extra = new LinkedHashMap<>(entries);
        List<String> differing = new ArrayList<>();
        for (NamedTensor tensor : wanted) {
            SafetensorsEntry entry = extra.remove(tensor.name());
            if (entry == null) {
                problems.add("missing: " + tensor);
            } else if (entry.dataType() != tensor.values().dataType()
                    || !entry.shape().equals(tensor.shape())) {
                differing.add("differs: \"" + tensor.name() + "\" expected "
                        + tensor.values().dataType().label() + tensor.shape() + ", found "
                        + entry.dataType().label() + entry.shape());
            } else {
                plan.add(files.get(tensor.name()), new PartFile.LoadTarget(entry, 0, tensor.values()));
            }
        }
        problems.addAll(differing);
        extra.values().forEach(entry -> problems.add("not expected: " + entry));
    }

    /**
     * The index {@code model.safetensors.index.json} of a model that is stored in several safetensors files. The
     * libraries of Hugging Face use the same format.
     *
     * @param files      the name of the file of each tensor, by the name of the tensor
     * @param totalBytes the number of bytes of all tensors
     */
    record WeightIndex(Map<String, String> files, long totalBytes) {

        static WeightIndex parse(JsonObjectFields fields) {
            Map<String, String> files = fields.object("weight_map").strings();
            files.values().forEach(file -> ObjectNames.checkFile(fields.source(), file));
            return new WeightIndex(files, fields.object("metadata").count("total_size"));
        }

        String text() {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("metadata", Map.of("total_size", totalBytes));
            fields.put("weight_map", new TreeMap<>(files));
            return JsonCodec.text(fields);
        }
    }
}
