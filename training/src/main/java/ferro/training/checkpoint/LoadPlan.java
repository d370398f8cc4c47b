package ferro.training.checkpoint;

import ferro.training.checkpoint.PartFile.LoadTarget;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A map from elements in files to the tensors that are loaded. */
final class LoadPlan {
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
