package ferro.launcher.program;

import ferro.launcher.analyze.Analysis;
import ferro.launcher.analyze.ProcessEnds;
import ferro.launcher.input.TemporaryFolder;
import ferro.spi.Settings;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The folder to which the flight recorders of a job's ranks write. The user names a folder, or the launcher creates a
 * folder that only this user can read. The launcher keeps a folder that it has created if the job has failed and left
 * recordings.
 *
 * @param folder absolute path
 * @param ours   whether the launcher has created the folder, and therefore removes it
 * @param before files that were in the folder before the job, with their modification times
 */
public record RecordingsFolder(Path folder, boolean ours, Map<Path, FileTime> before) {
    private static final String VARIABLE = "FERRO_RECORDER_DIR";
    /** Longest time for which a job that ends waits for a diagnosis, because the files may contain any data. */
    private static final long PATIENCE_SECONDS = 15;
    /** Number of generations whose recordings are kept and listed, because a job may fail for weeks. */
    private static final int KEPT_GENERATIONS = 20;

    /** Number of calls of each group that go to other launchers; the report of a node has limited space. */
    private static final int LAST_CALLS = 3;

    /** Creates a folder for recordings of the ranks, or uses the folder that the user has named. */
    public static RecordingsFolder of(LaunchTarget target, Map<String, String> environment) throws IOException {
        Optional<String> named = Optional.ofNullable(target.properties().get(Settings.RECORDER_DIR.name()))
                .or(() -> Optional.ofNullable(environment.get(VARIABLE)))
                .filter(text -> !text.isBlank());
        if (named.isPresent()) {
            Path folder = Path.of(named.get()).toAbsolutePath();
            return new RecordingsFolder(folder, false, inside(folder));
        }
        return new RecordingsFolder(TemporaryFolder.make("ferro-recordings-", environment), true, Map.of());
    }

    /** Returns the files of a folder with their times. Some files may come from an earlier job of the same name. */
    private static Map<Path, FileTime> inside(Path folder) throws IOException {
        Map<Path, FileTime> inside = new HashMap<>();
        if (Files.isDirectory(folder)) {
            try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
                for (Path file : files) {
                    inside.put(file, written(file));
                }
            }
        }
        return Map.copyOf(inside);
    }

    private static FileTime written(Path file) {
        try {
            return Files.getLastModifiedTime(file);
        } catch (IOException gone) {
            return FileTime.fromMillis(0);
        }
    }

    /**
     * Returns the folder of one generation. The launcher creates the folder of a generation below this folder, and
     * removes the folders of old generations. A folder that the user has named serves all generations. In the user's
     * folder, file names contain the job name of the generation, and no file is removed.
     */
    public RecordingsFolder ofGeneration(int generation) throws IOException {
        if (!ours) {
            return this;
        }
        Path old = below(generation - KEPT_GENERATIONS);
        if (Files.isDirectory(old, LinkOption.NOFOLLOW_LINKS)) {
            remove(old);
        }
        return new RecordingsFolder(Files.createDirectory(below(generation)), true, Map.of());
    }

    private Path below(int generation) {
        return folder.resolve("generation-" + generation);
    }

    /** Returns the folder if the launcher has to remove the folder; otherwise empty. */
    public Optional<Path> removable() {
        return ours ? Optional.of(folder) : Optional.empty();
    }

    /** Adds the variable that names the folder for a rank, unless the user has named a folder. */
    public void addTo(Map<String, String> variables) {
        if (ours) {
            variables.put(VARIABLE, folder.toString());
        }
    }

    /** Returns the analysis of a job's recordings and of the ends of its ranks; empty if no analysis is possible. */
    public Optional<Analysis> analyzed(String job, ProcessEnds ends) {
        return patiently(
                () -> Analysis.of(List.of(folder), Optional.of(job), this::isOfThisJob, Optional.of(ends)), why -> {});
    }

    /**
     * Returns the analysis of recordings that launchers have read; empty if no analysis is possible.
     *
     * @param brief    recordings as {@link #brief} returns them
     * @param ends     how the processes of the ranks ended
     * @param unjudged receives the reason if the analysis fails or takes too long
     */
    public static Optional<Analysis> analyzed(Analysis.Excerpt brief, ProcessEnds ends, Consumer<String> unjudged) {
        return patiently(() -> Analysis.of(brief, ends), unjudged).flatMap(Function.identity());
    }

    /** Returns the last calls of a job's ranks, for a launcher that analyses all nodes; empty without recordings. */
    public Analysis.Excerpt brief(String job) {
        return patiently(() -> Analysis.brief(folder, job, this::isOfThisJob, LAST_CALLS), why -> {})
                .orElseGet(() -> new Analysis.Excerpt(List.of(), Map.of()));
    }

    /** Whether a rank of a job has written a recording. */
    public boolean hasAny(String job) throws IOException {
        return Files.isDirectory(folder)
                && Analysis.files(folder).getOrDefault(job, new TreeMap<>()).values().stream()
                        .anyMatch(this::isOfThisJob);
    }

    private static <T> Optional<T> patiently(Callable<T> analysis, Consumer<String> unjudged) {
        FutureTask<T> task = new FutureTask<>(analysis);
        Thread thread = new Thread(task, "ferro-analysis");
        thread.setDaemon(true);
        thread.start();
        try {
            return Optional.of(task.get(PATIENCE_SECONDS, TimeUnit.SECONDS));
        } catch (ExecutionException failure) {
            // broken recordings must not hide why the job failed; ferro analyze reports the problems of recordings
            unjudged.accept("" + failure.getCause());
            return Optional.empty();
        } catch (TimeoutException slow) {
            unjudged.accept("the analysis takes longer than " + PATIENCE_SECONDS + " s");
            return Optional.empty();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }

    private boolean isOfThisJob(Path file) {
        return !written(file).equals(before.get(file));
    }

    /**
     * Removes files that are not needed. After a job that succeeded, all files are removed. A folder without recordings
     * is always removed. The guard shell of the job's other folder may already have removed this folder.
     */
    public void settle(boolean endedWell) throws IOException {
        try {
            if (ours && (endedWell || !anyBelow())) {
                remove(folder);
            }
        } catch (NoSuchFileException gone) {
            return;
        }
    }

    /** Whether the folder or the folder of a generation contains a recording. */
    private boolean anyBelow() throws IOException {
        try (DirectoryStream<Path> inside = Files.newDirectoryStream(folder, Files::isDirectory)) {
            for (Path generation : inside) {
                if (!Analysis.files(generation).isEmpty()) {
                    return true;
                }
            }
        }
        return !Analysis.files(folder).isEmpty();
    }

    private static void remove(Path folder) throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            for (Path file : files) {
                if (Files.isDirectory(file, LinkOption.NOFOLLOW_LINKS)) {
                    remove(file);
                } else {
                    Files.deleteIfExists(file);
                }
            }
        }
        Files.deleteIfExists(folder);
    }
}
