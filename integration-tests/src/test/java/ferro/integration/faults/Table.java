package ferro.integration.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Rows of a file of comma-separated values without quotes, by the names in its first line; no file, no rows. */
final class Table {
    private Table() {}

    static List<Map<String, String>> read(Path file) throws IOException {
        List<Map<String, String>> rows = new ArrayList<>();
        if (!Files.exists(file)) {
            return rows;
        }
        List<String> lines = Files.readAllLines(file);
        String[] names = lines.get(0).split(",");
        for (String line : lines.subList(1, lines.size())) {
            String[] cells = line.split(",", -1);
            Map<String, String> row = new LinkedHashMap<>();
            for (int cell = 0; cell < names.length; cell++) {
                row.put(names[cell], cell < cells.length ? cells[cell] : "");
            }
            rows.add(row);
        }
        return rows;
    }
}
