package ferro.training.checkpoint;

import ferro.training.checkpoint.PartFile.LoadTarget;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Which elements of which files go where. */
final class LoadPlan {
    private final Map<String, PartFile> files = new LinkedHashMap<>();
    private final Map<String, List<LoadTarget>> targets = new LinkedHashMap<>();

    void add(PartFile file, LoadTarget target) {
        files.put(file.name(), file);
        targets.computeIfAbsent(file.name(), name -> new ArrayList<>()).add(target);
    }

    /** Reads each file once. */
    void run(ObjectReader reader) {
        files.forEach((name, file) -> file.load(reader, targets.get(name)));
    }
}
