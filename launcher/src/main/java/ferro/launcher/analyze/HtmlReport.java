package ferro.launcher.analyze;

import com.google.gson.stream.JsonWriter;
import ferro.launcher.analyze.RankRecording.RecordedOperation;
import ferro.launcher.analyze.RankRecording.StackView;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The timeline: a page of ferro that contains the recordings as data. Text that ranks wrote is data too, never markup: the
 * page shows it as text only.
 */
final class HtmlReport {
    private static final String PAGE = "timeline.html";
    private static final String THEME = "theme.css";
    private static final String THEME_MARK = "/*THEME*/";
    private static final String DATA = "/*DATA*/";
    private static final long NANOS_PER_MICRO = 1_000;
    private static final long NANOS_PER_MILLI = 1_000_000;

    private final Merge merge;
    private final Verdict verdict;
    private final StringWriter text = new StringWriter();
    private final JsonWriter json = new JsonWriter(text);
    private final Map<String, Integer> names = new LinkedHashMap<>();
    private final long zero;

    private HtmlReport(Merge merge, Verdict verdict) {
        this.merge = merge;
        this.verdict = verdict;
        this.zero = earliest();
        json.setHtmlSafe(true);
    }

    static String page(Merge merge, Verdict verdict) {
        try {
            HtmlReport report = new HtmlReport(merge, verdict);
            report.write();
            // data last, because data may contain anything
            return resource(PAGE).replace(THEME_MARK, resource(THEME)).replace(DATA, report.text.toString());
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

    private long earliest() {
        return merge.recordings().entrySet().stream()
                .flatMapToLong(entry -> entry.getValue().operations().stream()
                        .mapToLong(operation -> merge.at(entry.getKey(), operation.begun())))
                .min()
                .orElseGet(merge::latest);
    }

    private void write() throws IOException {
        json.beginObject();
        json.name("job").value(merge.job());
        json.name("worldSize").value(merge.worldSize());
        json.name("zero").value(zero / NANOS_PER_MILLI);
        json.name("end").value(micros(merge.latest()));
        json.name("kind").value(verdict.kind().name());
        List<String> said = VerdictText.of(verdict, VerdictText.SeenBeside.NOTHING);
        json.name("verdict").value(said.get(0));
        texts("reasons", said.subList(1, said.size()));
        texts("notes", merge.notes());
        ranks("guilty", verdict.guilty());
        ranks("missing", merge.missing());
        ranks("outdated", merge.outdated());
        json.name("damaged").beginObject();
        for (Map.Entry<Integer, String> one : merge.damaged().entrySet()) {
            json.name("" + one.getKey()).value(one.getValue());
        }
        json.endObject();
        json.name("group").value(verdict.scene().group());
        json.name("sequence").value(verdict.scene().sequence());
        json.name("lanes").beginArray();
        for (Map.Entry<Integer, RankRecording> entry : merge.recordings().entrySet()) {
            lane(entry.getKey(), entry.getValue());
        }
        json.endArray();
        events();
        texts("names", names.keySet());
        json.endObject();
        json.flush();
    }

    private void lane(int rank, RankRecording one) throws IOException {
        json.beginObject();
        json.name("rank").value(rank);
        json.name("host").value(one.writer().host());
        json.name("pid").value(one.writer().pid());
        json.name("written").value(micros(merge.writtenAt(rank)));
        json.name("operations").beginArray();
        for (RecordedOperation operation : one.operations()) {
            operation(rank, operation);
        }
        json.endArray();
        lines(one);
        json.endObject();
    }

    /** Writes the lines of the program at which the threads of a rank were, each with the group of its call, -1 for none. */
    private void lines(RankRecording one) throws IOException {
        json.name("lines").beginArray();
        for (StackView stack : one.threadsAtFailure()) {
            json.beginArray();
            json.value(stack.group().isEmpty() ? -1 : name(stack.group())).value(stack.line());
            json.endArray();
        }
        json.endArray();
    }

    /** Writes an operation as a list and not as an object, because there may be 130,000 of them. */
    private void operation(int rank, RecordedOperation operation) throws IOException {
        long begun = micros(merge.at(rank, operation.begun()));
        long ended = operation.ended() == 0 ? -1 : micros(merge.at(rank, operation.ended()));
        json.beginArray();
        json.value(begun).value(ended).value(operation.state().ordinal());
        json.value(name(operation.call().group())).value(operation.call().sequence());
        json.value(name(operation.call().text())).value(operation.call().bytes());
        if (operation.unfinished()) {
            RankRecording.RecordedProgress progress = operation.progress();
            json.value(progress.step()).value(progress.bytesMoved()).value(PlainTexts.numbers(progress.waitingFor()));
            json.value(operation.code());
            json.value(progress.text());
        }
        json.endArray();
    }

    private void events() throws IOException {
        json.name("events").beginArray();
        for (TextReport.Dated one : TextReport.events(merge).toList()) {
            json.beginArray();
            json.value(one.rank()).value(micros(one.at())).value(one.event().kind());
            json.value(PlainTexts.numbers(one.event().ranks()))
                    .value(one.event().text());
            json.endArray();
        }
        json.endArray();
    }

    private void texts(String name, Collection<String> all) throws IOException {
        json.name(name).beginArray();
        for (String one : List.copyOf(all)) {
            json.value(one);
        }
        json.endArray();
    }

    private void ranks(String name, Collection<Integer> all) throws IOException {
        json.name(name).beginArray();
        for (int rank : all) {
            json.value(rank);
        }
        json.endArray();
    }

    private int name(String text) {
        return names.computeIfAbsent(text, key -> names.size());
    }

    private long micros(long wallNanos) {
        return (wallNanos - zero) / NANOS_PER_MICRO;
    }
}
