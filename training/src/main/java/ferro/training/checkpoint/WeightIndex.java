package ferro.training.checkpoint;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * The index of a model in several safetensors files, {@code model.safetensors.index.json}, as the libraries of Hugging Face write
 * and read it.
 *
 * @param files the name of the file of each tensor
 * @param totalBytes the bytes of all tensors
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
        return StrictJson.write(fields);
    }
}
