package ferro.launcher.analyze;

import ferro.launcher.analyze.MergedRecordings.DamagedFile;
import ferro.launcher.analyze.VerdictFormatter.ShownContext;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The analysis of the flight recordings in a folder: the ranks to blame, and the reasons. Immutable. */
public final class Analysis {
    /** Pattern of the file names that flight recorders use. */
    private static final String FILES = "ferro-*-rank*.json";

    private static final Pattern NAME = Pattern.compile("ferro-(.*)-rank(\\d{1,7})\\.json");

    private final MergedRecordings merge;
    private final ProcessEnds ends;
    private final Verdict verdict;
    private final List<String> problems;

    /**
     * The recordings of some ranks of a job, in the form in which a launcher sends recordings to another launcher.
     *
     * @param texts   recordings that contain only the last calls
     * @param damaged what is wrong with the recordings that cannot be read, by rank
     */
    public record Excerpt(List<String> texts, Map<Integer, String> damaged) {
        /** {@return whether no rank has written a recording, not even a damaged recording} */
        public boolean isEmpty() {
            return texts.isEmpty() && damaged.isEmpty();
        }
    }

    /**
     * Analyses recordings that several launchers have read. Each launcher has read the recordings of its own ranks.
     *
     * @param recordings recordings of one job, as {@link #brief} returns them
     * @param ends       how the processes of the ranks ended
     * @return analysis; empty if no rank has written a recording
     */
    public static Optional<Analysis> of(Excerpt recordings, ProcessEnds ends) {
        List<RankRecording> readable = new ArrayList<>();
        for (String text : recordings.texts()) {
            try {
                readable.add(RecordingReader.read(text));
            } catch (UnreadableRecordingException broken) {
                // the sender omits broken recordings, so an unreadable recording is of another version of ferro
                continue;
            }
        }
        List<DamagedFile> damaged = recordings.damaged().entrySet().stream()
                .map(one -> new DamagedFile("", one.getKey(), one.getValue()))
                .toList();
        return readable.isEmpty() && damaged.isEmpty()
                ? Optional.empty()
                : Optional.of(new Analysis(MergedRecordings.ofOneRun(readable, damaged), ends, List.of()));
    }

    /**
     * {@return the recordings of a job with only the last calls}
     *
     * @param folder folder to which recorders wrote
     * @param job    name of the job
     * @param taken  selects the files to read
     * @param calls  number of calls of each group to keep
     * @throws IOException if the folder cannot be read
     */
    public static Excerpt brief(Path folder, String job, Predicate<Path> taken, int calls) throws IOException {
        List<String> texts = new ArrayList<>();
        Map<Integer, String> damaged = new TreeMap<>();
        for (Map.Entry<Integer, Path> file :
                files(folder).getOrDefault(job, new TreeMap<>()).entrySet()) {
            if (taken.test(file.getValue())) {
                try {
                    texts.add(RecordingReader.brief(file.getValue(), calls));
                } catch (UnreadableRecordingException broken) {
                    damaged.put(file.getKey(), broken.reason());
                }
            }
        }
        return new Excerpt(texts, damaged);
    }

    private Analysis(MergedRecordings merge, ProcessEnds ends, List<String> problems) {
        this.merge = merge;
        this.ends = ends;
        this.verdict = VerdictFinder.verdict(merge, ends);
        this.problems = List.copyOf(problems);
    }

    /**
     * Reads the recordings of one job. Ranks of several hosts may have written into several folders. If a rank has two
     * recordings, uses the newer recording. Omits a file that cannot be read, and lists the file in
     * {@link #problems()}.
     *
     * @param folders folders to which recorders wrote
     * @param job     name of the job; empty for the job that wrote last
     * @return analysis
     * @throws UnreadableRecordingException if no recording can be read
     * @throws IOException if a folder cannot be read
     */
    public static Analysis of(List<Path> folders, Optional<String> job)
            throws UnreadableRecordingException, IOException {
        return of(folders, job, file -> true, Optional.empty());
    }

    /**
     * Reads some recordings of one job, as {@link #of(List, Optional)} does, and considers how the ranks' processes
     * ended. The ends decide questions that the recordings leave open.
     *
     * @param folders folders to which recorders wrote
     * @param job     name of the job; empty for the job that wrote last
     * @param taken   selects the files to read; other files are ignored
     * @param ends    how the processes of the ranks ended; if empty, the ends are read from the files of launchers in
     *     the folders
     * @return analysis
     * @throws UnreadableRecordingException if no recording exists, or if no recording can be read and {@code ends} is
     *     empty
     * @throws IOException if a folder cannot be read
     */
    public static Analysis of(
            List<Path> folders, Optional<String> job, Predicate<Path> taken, Optional<ProcessEnds> ends)
            throws UnreadableRecordingException, IOException {
        List<RankRecording> readable = new ArrayList<>();
        List<String> problems = new ArrayList<>();
        List<DamagedFile> damaged = new ArrayList<>();
        for (Path folder : folders) {
            if (!Files.isDirectory(folder)) {
                throw new UnreadableRecordingException(
                        folder + " is not a folder: need the folder that recorders wrote to"
                                + " (ferro.recorder.dir; ferro run prints it)");
            }
            for (Path file : permitted(folder).stream().filter(taken).toList()) {
                try {
                    readable.add(RecordingReader.read(file));
                } catch (UnreadableRecordingException broken) {
                    problems.add(broken.getMessage());
                    damagedFile(file, broken.reason()).ifPresent(damaged::add);
                }
            }
        }
        boolean none = readable.stream()
                .noneMatch(one -> job.isEmpty() || job.get().equals(one.writer().job()));
        boolean forLauncher = ends.isPresent() && damaged.stream().anyMatch(one -> job.equals(Optional.of(one.job())));
        if (none && !forLauncher) {
            throw nothingIn(folders, job, problems);
        }
        MergedRecordings merge = MergedRecordings.of(readable, damaged, job);
        return new Analysis(merge, ends.isPresent() ? ends.get() : RankEndsFile.read(folders, merge), problems);
    }

    private static Optional<DamagedFile> damagedFile(Path file, String why) {
        Matcher name = NAME.matcher(file.getFileName().toString());
        return name.matches()
                ? Optional.of(new DamagedFile(name.group(1), Integer.parseInt(name.group(2)), why))
                : Optional.empty();
    }

    private static List<Path> permitted(Path folder) throws UnreadableRecordingException, IOException {
        try {
            return recordings(folder);
        } catch (AccessDeniedException refused) {
            throw new UnreadableRecordingException(
                    folder + " cannot be read: run ferro analyze as the user that ran the job", refused);
        }
    }

    private static List<Path> recordings(Path folder) throws IOException {
        List<Path> files = new ArrayList<>();
        try (DirectoryStream<Path> found = Files.newDirectoryStream(folder, FILES)) {
            found.forEach(files::add);
        }
        files.sort(null);
        return files;
    }

    private static UnreadableRecordingException nothingIn(
            List<Path> folders, Optional<String> job, List<String> problems) {
        String where = folders.stream().map(Path::toString).collect(Collectors.joining(", "));
        String what = where + (folders.size() == 1 ? " holds" : " hold") + " no recording"
                + job.map(name -> " of job " + name).orElse("") + " (ferro-JOB-rankR.json)";
        String why = problems.isEmpty()
                ? ": ranks write one when a group fails, or when ferro dump asks for it"
                : " that can be read:\n  " + String.join("\n  ", problems);
        return new UnreadableRecordingException(what + why);
    }

    /** {@return one line for each file that could not be read, with the name of the file} */
    public List<String> problems() {
        return problems;
    }

    /** {@return the ranks of the joined group to examine; empty if no rank can be named} */
    public Set<Integer> guilty() {
        return verdict.guilty();
    }

    /** {@return the verdict: one sentence, then one line for each reason} */
    public List<String> verdict() {
        return VerdictFormatter.of(verdict, ShownContext.NOTHING);
    }

    /** {@return the verdict as data: what is wrong, and which ranks are to blame} */
    public Verdict judged() {
        return verdict;
    }

    /**
     * {@return the recordings of a folder by job and rank, according to the names of the files only}
     *
     * @param folder folder to which recorders write
     * @throws IOException if the folder cannot be read
     */
    public static SortedMap<String, SortedMap<Integer, Path>> files(Path folder) throws IOException {
        SortedMap<String, SortedMap<Integer, Path>> files = new TreeMap<>();
        for (Path file : recordings(folder)) {
            Matcher name = NAME.matcher(file.getFileName().toString());
            if (name.matches()) {
                files.computeIfAbsent(name.group(1), job -> new TreeMap<>()).put(Integer.valueOf(name.group(2)), file);
            }
        }
        return files;
    }

    /**
     * {@return the number of ranks of the job of a recording}
     *
     * @param file the recording
     * @throws UnreadableRecordingException if the file is not a recording
     */
    public static int worldSize(Path file) throws UnreadableRecordingException {
        return RecordingReader.read(file).writer().worldSize();
    }

    /** {@return the ranks of the joined group that wrote no recording} */
    public SortedSet<Integer> missing() {
        return merge.missing();
    }

    /** {@return the complete analysis as lines of text, the verdict first} */
    public List<String> text() {
        return TextReport.lines(merge, ends, verdict);
    }

    /** {@return the complete analysis as an HTML page that needs only a browser: a lane per rank, a bar per call} */
    public String html() {
        return HtmlReport.page(merge, verdict);
    }
}
