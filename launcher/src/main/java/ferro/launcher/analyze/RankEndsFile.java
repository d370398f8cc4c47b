package ferro.launcher.analyze;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import ferro.launcher.analyze.ProcessEnds.EndKind;
import ferro.launcher.analyze.ProcessEnds.ProcessEnd;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The file in which a launcher writes how the processes of its ranks ended, next to the recordings of the ranks. With
 * this file, {@code ferro analyze} has the same facts as the launcher.
 */
public final class RankEndsFile {
    /** Age difference above which a file that is older than a recording is from an earlier job of the same name. */
    private static final long SLACK_NANOS = 1_000_000_000L;

    /** Longest detail of an end, in characters. The first characters of a longer message identify an exception. */
    private static final int LONGEST_DETAIL = 200;

    private RankEndsFile() {}

    private static String name(String job) {
        return "ferro-" + job + "-ends";
    }

    /**
     * Writes the file. All ranks of the launcher must have ended.
     *
     * @param folder folder to which the ranks wrote recordings
     * @param job    name of the job
     * @param node   number of the launcher's node
     * @param ends   how the ranks of this launcher ended
     * @throws IOException if the file cannot be written
     */
    public static void write(Path folder, String job, int node, ProcessEnds ends) throws IOException {
        JsonArray ranks = new JsonArray();
        ends.byRank().forEach((rank, end) -> {
            JsonObject one = new JsonObject();
            one.addProperty("rank", rank);
            one.addProperty("kind", end.kind().name());
            one.addProperty("detail", cut(end.detail()));
            one.addProperty("stopped", ends.stopped().contains(rank) ? 1 : 0);
            one.addProperty("stoppedWallNanos", ends.stoppedWallNanos().getOrDefault(rank, Long.MAX_VALUE));
            ranks.add(one);
        });
        JsonObject all = new JsonObject();
        all.addProperty("wallNanos", System.currentTimeMillis() * 1_000_000);
        all.add("ranks", ranks);
        all.addProperty("lost", String.join("\n", ends.lost()));
        Files.writeString(folder.resolve(name(job) + node + ".json"), all.toString());
    }

    private static String cut(String detail) {
        return detail.codePointCount(0, detail.length()) <= LONGEST_DETAIL
                ? detail
                : detail.substring(0, detail.offsetByCodePoints(0, LONGEST_DETAIL)) + " ...";
    }

    /** Reads the files that belong to the recordings of a job. Ignores a file that cannot be read. */
    static ProcessEnds read(List<Path> folders, MergedRecordings merge) throws IOException {
        ProcessEnds all = ProcessEnds.UNSEEN;
        for (Path folder : folders) {
            try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "ferro-*-ends*.json")) {
                for (Path file : files) {
                    if (file.getFileName().toString().startsWith(name(merge.job()))) {
                        all = all.and(read(file, merge));
                    }
                }
            }
        }
        return all;
    }

    private static ProcessEnds read(Path file, MergedRecordings merge) {
        Map<Integer, ProcessEnd> ends = new HashMap<>();
        Set<Integer> stopped = new HashSet<>();
        Map<Integer, Long> since = new HashMap<>();
        List<String> lost;
        try {
            JsonFields all = RecordingReader.fields(file);
            lost = all.lines("lost").lines().toList();
            for (JsonFields one : all.list("ranks", one -> one)) {
                int rank = (int) one.number("rank", 0, merge.worldSize() - 1L);
                boolean isOlder = merge.recordings().containsKey(rank)
                        && merge.writtenAt(rank) > all.number("wallNanos") + SLACK_NANOS;
                if (isOlder) {
                    return ProcessEnds.UNSEEN;
                }
                ends.put(rank, new ProcessEnd(one.constant("kind", EndKind.class), one.text("detail")));
                since.put(rank, one.number("stoppedWallNanos"));
                if (one.number("stopped") == 1) {
                    stopped.add(rank);
                }
            }
        } catch (UnreadableRecordingException broken) {
            // the recordings are more important than this file
            return ProcessEnds.UNSEEN;
        }
        return new ProcessEnds(ends, stopped, since).without(lost);
    }
}
