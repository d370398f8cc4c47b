package ferro.launcher.analyze;

import com.google.gson.GsonBuilder;
import ferro.launcher.analyze.RankRecording.RecordedOperation;
import ferro.launcher.analyze.RankRecording.RecordedProgress;
import ferro.launcher.analyze.VerdictFormatter.ShownContext;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The timeline, an HTML page that contains the recordings as data. Text of ranks is data, too, and never markup. The
 * page shows text of ranks as text only.
 */
final class HtmlReport {
    private static final String PAGE = "timeline.html";
    private static final String THEME = "theme.css";
    private static final String THEME_MARK = "/*THEME*/";
    private static final String DATA = "/*DATA*/";
    private static final long NANOS_PER_MICRO = 1_000;
    private static final long NANOS_PER_MILLI = 1_000_000;

    private final MergedRecordings merge;
    private final Verdict verdict;
    private final Map<String, Integer> names = new LinkedHashMap<>();
    private final long zero;

    private HtmlReport(MergedRecordings merge, Verdict verdict) {
        this.merge = merge;
        this.verdict = verdict;
        this.zero = merge.recordings().values().stream()
                .flatMap(one -> one.operations().stream())
                .mapToLong(RecordedOperation::begun)
                .min()
                .orElseGet(merge::latest);
    }

    static String page(MergedRecordings merge, Verdict verdict) {
        try {
            String data = new GsonBuilder().serializeNulls().create().toJson(new HtmlReport(merge, verdict).data());
            // replaces the mark of the data last, because the data may contain any text
            return resource(PAGE).replace(THEME_MARK, resource(THEME)).replace(DATA, data);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(PAGE + " of ferro-launcher cannot be read", unreadable);
        }
    }

    private static String resource(String name) throws IOException {
        try (InputStream resource = HtmlReport.class.getResourceAsStream(name)) {
            if (resource == null) {
                throw new IllegalStateException(name + " is not on the class path of ferro-launcher");
            }
            return new String(resource.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private Map<String, Object> data() {
        List<String> said = VerdictFormatter.of(verdict, ShownContext.NOTHING);
        Map<String, Object> data = new LinkedHashMap<>();
        data.put("job", merge.job());
        data.put("worldSize", merge.worldSize());
        data.put("zero", zero / NANOS_PER_MILLI);
        data.put("end", micros(merge.latest()));
        data.put("kind", verdict.kind().name());
        data.put("verdict", said.get(0));
        data.put("reasons", said.subList(1, said.size()));
        data.put("notes", merge.notes());
        data.put("guilty", verdict.guilty());
        data.put("missing", merge.missing());
        data.put("outdated", merge.outdated());
        data.put("damaged", merge.damaged());
        data.put("group", verdict.scene().group());
        data.put("sequence", verdict.scene().sequence());
        data.put("lanes", merge.recordings().values().stream().map(this::lane).toList());
        data.put(
                "events",
                TextReport.events(merge)
                        .map(one -> List.of(
                                one.rank(),
                                micros(one.at()),
                                one.kind(),
                                RankFormatter.numbers(one.ranks()),
                                one.text()))
                        .toList());
        data.put("names", names.keySet());
        return data;
    }

    private Map<String, Object> lane(RankRecording one) {
        Map<String, Object> lane = new LinkedHashMap<>();
        lane.put("rank", one.writer().rank());
        lane.put("host", one.writer().host());
        lane.put("pid", one.writer().pid());
        lane.put("written", micros(merge.writtenAt(one.writer().rank())));
        lane.put("operations", one.operations().stream().map(this::operation).toList());
        // adds each line with the group of its call; -1 for no group
        lane.put(
                "lines",
                one.threadsAtFailure().stream()
                        .map(stack -> List.of(stack.group().isEmpty() ? -1 : name(stack.group()), stack.line()))
                        .toList());
        return lane;
    }

    /** Returns an operation as a list instead of an object. The page may contain 130,000 operations. */
    private List<Object> operation(RecordedOperation operation) {
        List<Object> values = new ArrayList<>(List.of(
                micros(operation.begun()),
                operation.ended() == 0 ? -1 : micros(operation.ended()),
                operation.state().ordinal(),
                name(operation.call().group()),
                operation.call().sequence(),
                name(operation.call().text()),
                operation.call().bytes()));
        if (operation.unfinished()) {
            RecordedProgress progress = operation.progress();
            values.addAll(List.of(
                    progress.step(),
                    progress.bytesMoved(),
                    RankFormatter.numbers(progress.waitingFor()),
                    operation.code(),
                    progress.text()));
        }
        return values;
    }

    private int name(String text) {
        return names.computeIfAbsent(text, key -> names.size());
    }

    private long micros(long wallNanos) {
        return (wallNanos - zero) / NANOS_PER_MICRO;
    }
}
