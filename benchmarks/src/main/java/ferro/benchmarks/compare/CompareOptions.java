package ferro.benchmarks.compare;

import ferro.benchmarks.BenchOperation;
import ferro.spi.Setting;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The options of a comparison, as benchmarks/compare.sh passes them.
 *
 * @param starter     script that starts contestants; null to write only the report
 * @param contestants names that the script knows. If a name ends with {@code -shared}, the same processes use tensors
 *     of the group
 * @param ranks       world sizes
 * @param collectives collectives to measure
 * @param sizes       sizes in bytes
 * @param rounds      number of rounds
 * @param time        time of one measurement of a contestant
 * @param out         folder of the results, where measurements are appended to raw.csv
 */
record CompareOptions(
        Path starter,
        List<String> contestants,
        List<Integer> ranks,
        List<BenchOperation> collectives,
        List<Long> sizes,
        int rounds,
        Duration time,
        Path out) {

    private static final Map<String, String> DEFAULTS = Map.of(
            "--contestants", "",
            "--ranks", "2",
            "--collectives", "allreduce",
            "--sizes", "4,64,1KiB,4KiB,16KiB,64KiB,256KiB,1MiB,4MiB,16MiB,64MiB",
            "--rounds", "7",
            "--time", "60ms");

    /**
     * Reads the options from words.
     *
     * @throws IllegalArgumentException if a word is invalid; the message names the word
     */
    static CompareOptions parse(List<String> words) {
        Map<String, String> given = new LinkedHashMap<>(DEFAULTS);
        Iterator<String> rest = words.iterator();
        while (rest.hasNext()) {
            String option = rest.next();
            if (!given.containsKey(option) && !option.equals("--starter") && !option.equals("--out")) {
                throw new IllegalArgumentException(
                        "no option \"" + option + "\": use " + DEFAULTS.keySet() + ", --starter or --out");
            }
            if (!rest.hasNext()) {
                throw new IllegalArgumentException(option + " needs a value after it");
            }
            given.put(option, rest.next());
        }
        if (!given.containsKey("--out")) {
            throw new IllegalArgumentException(
                    "--out DIR is missing in \"" + String.join(" ", words) + "\": need a folder for the results");
        }
        return new CompareOptions(
                given.containsKey("--starter") ? Path.of(given.get("--starter")) : null,
                split(given.get("--contestants")).toList(),
                split(given.get("--ranks")).map(CompareOptions::ranks).toList(),
                split(given.get("--collectives")).map(BenchOperation::parse).toList(),
                split(given.get("--sizes")).map(Setting::bytes).toList(),
                Setting.count(given.get("--rounds")),
                Setting.duration(given.get("--time")),
                Path.of(given.get("--out")));
    }

    private static int ranks(String text) {
        int ranks = Setting.count(text);
        if (ranks < 2) {
            throw new IllegalArgumentException("--ranks " + text + ": need 2 or more");
        }
        return ranks;
    }

    private static Stream<String> split(String list) {
        return Stream.of(list.split(",")).map(String::strip).filter(word -> !word.isEmpty());
    }

    /** Returns all items for a group of {@code worldSize} ranks, by increasing size. A barrier has no sizes. */
    List<Measurement.SizedCall> items(int worldSize) {
        List<Measurement.SizedCall> items = new ArrayList<>();
        for (BenchOperation collective : collectives) {
            List<Long> its = collective == BenchOperation.BARRIER ? List.of(0L) : sizes;
            its.forEach(bytes -> items.add(new Measurement.SizedCall(worldSize, collective.label(), bytes)));
        }
        return items;
    }
}
