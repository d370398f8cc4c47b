package ferro.training.checkpoint;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * The index {@code model.safetensors.index.json} of a model that is stored in several safetensors files. The libraries
 * of Hugging Face use the same format.
 *
 * @param files      the name of the file of each tensor, by the name of the tensor
 * @param totalBytes the number of bytes of all tensors
 */
record WeightIndex(Map<String, String> files, long totalBytes) {

    static WeightIndex parse(JsonValues fields) {
        Map<String, String> files = fields.object("weight_map").strings();
        files.values().forEach(file -> ObjectNames.checkFile(fields.source(), file));
        return new WeightIndex(files, fields.object("metadata").count("total_size"));
    }

    String text() {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("metadata", Map.of("total_size", totalBytes));
        fields.put("weight_map", new TreeMap<>(files));
        return StrictJson.text(fields);
    }
}
